// One table per family of ends: outcome × evidence → category, confidence and the first sentence.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::diagnosis_of;
using testing::gibibyte;
using testing::joined;
using testing::mebibyte;
using testing::traceback_ending_in;

void expect_says(const std::vector<std::string>& lines, const std::string& part) {
  EXPECT_NE(joined(lines).find(part), std::string::npos) << "'" << part << "' is not in:\n" << joined(lines);
}

// ---- Python
// ------------------------------------------------------------------------------------------------------------

TEST(PythonRule, Traceback_IsWholeAndNamesThePlace) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(2).exited(1).saying(traceback_ending_in("ValueError: bad batch")));
  EXPECT_EQ(diagnosis.category, Category::python_exception);
  EXPECT_EQ(diagnosis.confidence, Confidence::certain);
  EXPECT_EQ(diagnosis.summary, "Rank 2 (pid 1002) raised ValueError: bad batch.");
  EXPECT_EQ(diagnosis.traceback + "\n", traceback_ending_in("ValueError: bad batch"));
  expect_says(diagnosis.evidence, "rank 2 exited with code 1");
  expect_says(diagnosis.evidence, "train.py\", line 7");
}

TEST(PythonRule, OtherExitCode_IsLessSure) {
  EXPECT_EQ(diagnosis_of(an_ending(0).exited(3).saying(traceback_ending_in("ValueError: x"))).confidence,
            Confidence::likely);
}

TEST(PythonRule, ErrorFile_WinsOverWhatWasPrintedLater) {
  AttemptEvidence evidence;
  evidence.error_files[Rank{1}] =
      R"({"message": {"message": "ValueError: real", "extraInfo": {"py_callstack": "Traceback …\nValueError: real\n"}}})";
  const Diagnosis diagnosis =
      diagnosis_of(an_ending(1).exited(1).saying(traceback_ending_in("OSError: in the teardown")), evidence);
  EXPECT_EQ(diagnosis.summary, "Rank 1 (pid 1001) raised ValueError: real.");
  EXPECT_EQ(diagnosis.traceback, "Traceback …\nValueError: real");
}

TEST(PythonRule, GarbageErrorFile_LeavesThePrintedTraceback) {
  AttemptEvidence evidence;
  evidence.error_files[Rank{1}] = "{half";
  EXPECT_EQ(diagnosis_of(an_ending(1).exited(1).saying(traceback_ending_in("OSError: x")), evidence).summary,
            "Rank 1 (pid 1001) raised OSError: x.");
}

TEST(PythonRule, LongMessage_IsCutInTheSentenceOnly) {
  const std::string text = traceback_ending_in("ValueError: " + std::string(5000, 'x'));
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).exited(1).saying(text));
  EXPECT_LT(diagnosis.summary.size(), 400U);
  EXPECT_GT(diagnosis.traceback.size(), 5000U);
}

// ---- memory
// ------------------------------------------------------------------------------------------------------------

AttemptEvidence counters(std::optional<std::uint64_t> cgroup_after, std::optional<std::uint64_t> machine_after) {
  AttemptEvidence evidence;
  if (cgroup_after) evidence.oom_before.cgroup = 3;
  if (machine_after) evidence.oom_before.machine = 7;
  evidence.oom_after = {machine_after, cgroup_after};
  evidence.memory_limit_bytes = 8 * gibibyte;
  evidence.memory_total_bytes = 64 * gibibyte;
  return evidence;
}

TEST(OutOfMemoryRule, EveryStateOfTheCounters_DecidesKill) {
  const struct {
    AttemptEvidence evidence;
    Category category;
    Confidence confidence;
    const char* sentence;
  } table[] = {
      {counters(4, 8), Category::out_of_memory, Confidence::certain,
       "Rank 1 (pid 1001) was killed by the kernel because the memory limit of 8.0 GiB was reached; its peak was 7.8 "
       "GiB."},
      {counters(3, 8), Category::out_of_memory, Confidence::likely,
       "Rank 1 (pid 1001) was killed by the kernel because the machine ran out of memory (it has 64.0 GiB); its peak "
       "was "
       "7.8 GiB."},
      {counters({}, 8), Category::out_of_memory, Confidence::likely,
       "Rank 1 (pid 1001) was killed by the kernel because the machine ran out of memory (it has 64.0 GiB); its peak "
       "was "
       "7.8 GiB."},
      {counters(3, 7), Category::killed_from_outside, Confidence::likely,
       "Rank 1 (pid 1001) was killed with SIGKILL from outside: not by forklift, and not by the kernel for lack of "
       "memory."},
      {counters({}, {}), Category::killed_from_outside, Confidence::possible,
       "Rank 1 (pid 1001) was killed with SIGKILL from outside: not by forklift; whether memory ran out cannot be seen "
       "here."},
  };
  for (const auto& row : table) {
    const Diagnosis diagnosis = diagnosis_of(an_ending(1).killed_by(SIGKILL).peak(7987 * mebibyte), row.evidence);
    EXPECT_EQ(diagnosis.category, row.category) << diagnosis.summary;
    EXPECT_EQ(diagnosis.confidence, row.confidence) << diagnosis.summary;
    EXPECT_EQ(diagnosis.summary, row.sentence);
    EXPECT_FALSE(diagnosis.advice.empty());
  }
}

TEST(OutOfMemoryRule, Evidence_SaysHowMuchAndOfWhom) {
  const std::vector<Ending> endings{an_ending(0).killed_by(SIGTERM).asked(AskedToStop::politely).peak(2 * gibibyte),
                                    an_ending(1).killed_by(SIGKILL).peak(6 * gibibyte), an_ending(2).exited(0)};
  const auto cause = diagnose(testing::a_python_plan(3), endings, counters(4, 7));
  ASSERT_TRUE(cause);
  expect_says(cause->diagnosis.evidence, "memory group's counter of out-of-memory kills went from 3 to 4");
  expect_says(cause->diagnosis.evidence, "memory limit: 8.0 GiB");
  expect_says(cause->diagnosis.evidence, "peak memory of rank 1: 6.0 GiB\npeak memory of rank 0: 2.0 GiB");
}

TEST(OutOfMemoryRule, ChildOfTheReplica_CountsAsWell) {
  const Diagnosis shell = diagnosis_of(an_ending(0).exited(137), counters(4, 8));
  EXPECT_EQ(shell.category, Category::out_of_memory);
  EXPECT_EQ(shell.summary.find("Rank 0 (pid 1000) ended because its child was killed by the kernel"), 0U);
  const Diagnosis loader =
      diagnosis_of(an_ending(0).exited(1).saying(
                       traceback_ending_in("RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed. ")),
                   counters(4, 8));
  EXPECT_EQ(loader.category, Category::out_of_memory);
  EXPECT_EQ(loader.summary.find("Rank 0 (pid 1000) failed because its data loading worker (pid 4242) was killed"), 0U);
  expect_says(loader.advice, "num_workers");
  EXPECT_FALSE(loader.traceback.empty());
}

TEST(OutOfMemoryRule, LoaderKilledWithoutCounter_IsFromOutside) {
  EXPECT_EQ(diagnosis_of(an_ending(0).exited(1).saying(traceback_ending_in(
                             "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed. ")),
                         counters(3, 7))
                .category,
            Category::killed_from_outside);
}

TEST(OutOfMemoryRule, MemoryError_HasTheEvidenceOfMemory) {
  const Diagnosis diagnosis =
      diagnosis_of(an_ending(0).exited(1).saying(traceback_ending_in("MemoryError")), counters(3, 7));
  EXPECT_EQ(diagnosis.category, Category::out_of_memory);
  expect_says(diagnosis.evidence, "memory limit: 8.0 GiB");
}

TEST(OutOfMemoryRule, NoteOfSlurm_IsBelieved) {
  const Diagnosis diagnosis = diagnosis_of(
      an_ending(0).killed_by(SIGKILL).saying("slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.\n"));
  EXPECT_EQ(diagnosis.category, Category::out_of_memory);
  EXPECT_EQ(diagnosis.confidence, Confidence::certain);
}

TEST(KillRule, EarlierOutput_DoesNotExplainAKillFromOutside) {
  EXPECT_EQ(
      diagnosis_of(an_ending(0).killed_by(SIGKILL).saying("retry: No space left on device\n"), counters(3, 7)).category,
      Category::killed_from_outside);
}

// ---- shared memory
// -----------------------------------------------------------------------------------------------------

TEST(BusErrorRule, EveryStateOfSharedMemory_DecidesConfidence) {
  const struct {
    std::optional<SharedMemoryFacts> memory;
    Confidence confidence;
  } table[] = {
      {SharedMemoryFacts{64 * mebibyte, 0}, Confidence::likely},
      {SharedMemoryFacts{64 * mebibyte, mebibyte - 1}, Confidence::likely},
      {SharedMemoryFacts{64 * gibibyte, gibibyte}, Confidence::likely},  // below 2 %
      {SharedMemoryFacts{64 * mebibyte, 32 * mebibyte}, Confidence::possible},
      {SharedMemoryFacts{0, 0}, Confidence::possible},
      {std::nullopt, Confidence::possible},
  };
  for (const auto& row : table) {
    AttemptEvidence evidence;
    evidence.shared_memory = row.memory;
    const Diagnosis diagnosis = diagnosis_of(an_ending(0).killed_by(SIGBUS), evidence);
    EXPECT_EQ(diagnosis.category, Category::bus_error_shared_memory);
    EXPECT_EQ(diagnosis.confidence, row.confidence) << diagnosis.summary;
    expect_says(diagnosis.advice, "--shm-size");
  }
}

TEST(BusErrorRule, LoaderWorker_IsSharedMemoryAtOnce) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).exited(1).saying(
      traceback_ending_in("RuntimeError: DataLoader worker (pid 9) is killed by signal: Bus error. It is possible that "
                          "dataloader's workers "
                          "are out of shared memory. Please try to raise your shared memory limit.")));
  EXPECT_EQ(diagnosis.category, Category::bus_error_shared_memory);
  EXPECT_EQ(diagnosis.confidence, Confidence::likely);
}

// ---- signals
// -----------------------------------------------------------------------------------------------------------

TEST(SignalRule, EverySignal_IsNamedAndHasAdvice) {
  for (int signal = 1; signal <= 64; ++signal) {
    for (const bool core : {false, true}) {
      const Diagnosis diagnosis = diagnosis_of(an_ending(3).killed_by(signal, core));
      EXPECT_NE(diagnosis.summary.find(signal_name(signal)), std::string::npos) << diagnosis.summary;
      EXPECT_NE(diagnosis.summary.find("Rank 3 (pid 1003)"), std::string::npos) << diagnosis.summary;
      EXPECT_FALSE(diagnosis.advice.empty()) << diagnosis.summary;
      EXPECT_EQ(contains(joined(diagnosis.evidence), "core dumped"), core) << diagnosis.summary;
    }
  }
}

TEST(SignalRule, EachCrash_HasItsCategory) {
  const struct {
    int signal;
    Category category;
  } table[] = {
      {SIGSEGV, Category::segmentation_fault},  {SIGABRT, Category::abort},
      {SIGILL, Category::illegal_instruction},  {SIGFPE, Category::illegal_instruction},
      {SIGTERM, Category::killed_from_outside}, {SIGINT, Category::killed_from_outside},
      {SIGHUP, Category::killed_from_outside},  {SIGUSR1, Category::killed_from_outside},
      {SIGXCPU, Category::killed_from_outside}, {SIGPIPE, Category::abort},
  };
  for (const auto& row : table) {
    EXPECT_EQ(diagnosis_of(an_ending(0).killed_by(row.signal)).category, row.category) << signal_name(row.signal);
    EXPECT_EQ(diagnosis_of(an_ending(0).exited(128 + row.signal)).category, row.category) << signal_name(row.signal);
  }
}

TEST(SignalRule, Faulthandler_IsTheTraceback) {
  const std::string report =
      "Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):\n  File \"t.py\", line "
      "3 "
      "in f";
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).killed_by(SIGSEGV).saying(report + "\n"));
  EXPECT_EQ(diagnosis.traceback, report);
}

TEST(SignalRule, HundredFrames_HintAtTheStack) {
  std::string report = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):\n";
  for (int frame = 0; frame < 100; ++frame) report += "  File \"t.py\", line 3 in f\n";
  report += "  ...\n";
  expect_says(diagnosis_of(an_ending(0).killed_by(SIGSEGV).saying(report)).advice, "recursion");
}

TEST(SignalRule, LastWordsOfTheRuntime_AreEvidence) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).killed_by(SIGABRT).saying(
      "noise\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  no luck\n"));
  expect_says(diagnosis.evidence, "terminate called after throwing");
  expect_says(diagnosis.evidence, "what():  no luck");
}

TEST(SignalRule, AbortAfterAnException_IsTheException) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).killed_by(SIGABRT).saying(
      traceback_ending_in("ValueError: b") + "terminate called without an active exception\n"));
  EXPECT_EQ(diagnosis.category, Category::python_exception);
  EXPECT_EQ(diagnosis.confidence, Confidence::likely);
  EXPECT_EQ(diagnosis.summary, "Rank 0 (pid 1000) raised ValueError: b.");
}

// ---- exit codes
// --------------------------------------------------------------------------------------------------------

TEST(ExitCodeRule, EveryCode_IsExplained) {
  for (int code = 1; code <= 255; ++code) {
    const Diagnosis diagnosis = diagnosis_of(an_ending(1).exited(code));
    expect_says(diagnosis.evidence, "rank 1 exited with code " + std::to_string(code));
    EXPECT_FALSE(diagnosis.advice.empty()) << diagnosis.summary;
  }
}

TEST(ExitCodeRule, LastLine_IsEvidence) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).exited(1).saying("one\nno such dataset: digits\n\n"));
  EXPECT_EQ(diagnosis.category, Category::exit_code);
  EXPECT_EQ(diagnosis.summary, "Rank 0 (pid 1000) exited with code 1.");
  expect_says(diagnosis.evidence, "its last line on stderr: no such dataset: digits");
}

TEST(ExitCodeRule, UsageErrorOfArgparse_IsNamed) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).exited(2).saying(
      "usage: train.py [-h] [--epochs N]\ntrain.py: error: unrecognized arguments: --lr\n"));
  EXPECT_EQ(diagnosis.summary, "Rank 0 (pid 1000) refused its arguments: unrecognized arguments: --lr.");
  EXPECT_EQ(diagnosis.confidence, Confidence::certain);
}

TEST(LostRule, UnseenEnd_IsSaid) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).lost("its status was taken by other code"));
  EXPECT_EQ(diagnosis.confidence, Confidence::possible);
  expect_says(diagnosis.evidence, "its status was taken by other code");
}

// ---- ports
// -------------------------------------------------------------------------------------------------------------

TEST(PortRule, EachLibrarysWords_AreUnderstood) {
  const struct {
    const char* exception;
    const char* port;
  } table[] = {
      {"torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: "
       "29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use",
       "port 29500"},
      {"RuntimeError: The server socket has failed to bind to [::]:44796 (errno: 98 - Address already in use).",
       "port 44796"},
      {"RuntimeError: Address already in use", "a port"},
      {"OSError: [Errno 98] Address already in use", "a port"},
      {"OSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 8080): address already in use",
       "a port"},
      {"torch.distributed.DistBackendError: NCCL error: Call to bind failed: Address already in use", "a port"},
      {"tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server", "a port"},
      {"RuntimeError: Failed to add port to server: No address added out of total 1 resolved for 'localhost:4711'",
       "port 4711"},
  };
  for (const auto& row : table) {
    const Diagnosis diagnosis = diagnosis_of(an_ending(0).exited(1).saying(traceback_ending_in(row.exception)));
    EXPECT_EQ(diagnosis.category, Category::port_in_use) << row.exception;
    EXPECT_EQ(diagnosis.summary,
              std::string("Rank 0 (pid 1000) could not listen on ") + row.port + ": another process already uses it.");
  }
}

TEST(PortRule, Holder_IsNamed) {
  AttemptEvidence evidence;
  evidence.port_holder = PortHolder{29500, 333, "python old_run.py"};
  const Diagnosis diagnosis = diagnosis_of(
      an_ending(0).exited(1).saying(traceback_ending_in("RuntimeError: Address already in use")), evidence);
  EXPECT_EQ(diagnosis.summary,
            "Rank 0 (pid 1000) could not listen on port 29500: process 333 (python old_run.py) already uses it.");
  expect_says(diagnosis.advice, "kill 333");
}

TEST(PortRule, HolderOfAnotherPort_IsNotBlamed) {
  AttemptEvidence evidence;
  evidence.port_holder = PortHolder{29500, 333, "python"};
  EXPECT_NE(diagnosis_of(an_ending(0).exited(1).saying(traceback_ending_in(
                             "RuntimeError: failed to bind to [::]:4000 (errno: 98 - Address already in use).")),
                         evidence)
                .summary.find("port 4000: another process"),
            std::string::npos);
}

// ---- start failures
// ----------------------------------------------------------------------------------------------------

TEST(StartRule, EachStepAndError_IsOneSentence) {
  const struct {
    StartStep step;
    int os_errno;
    const char* subject;
    const char* part;
  } table[] = {
      {StartStep::execute, ENOENT, "/x/train.sh", "/x/train.sh was not found, or the interpreter"},
      {StartStep::execute, EACCES, "/x/train.sh", "/x/train.sh may not be executed (permission denied)"},
      {StartStep::execute, ENOEXEC, "/x/a.out", "/x/a.out is not in a format that this machine can execute"},
      {StartStep::execute, ENOTDIR, "/x/y", "a part of the path /x/y is not a folder"},
      {StartStep::execute, E2BIG, "/x", "arguments and the environment together are too large"},
      {StartStep::execute, ETXTBSY, "/x", "/x is being written to"},
      {StartStep::execute, ELOOP, "/x", "too many symbolic links"},
      {StartStep::execute, EPERM, "/x", "does not allow it to execute /x"},
      {StartStep::execute, EIO, "/x", "/x cannot be executed (Input/output error)"},
      {StartStep::clone, EAGAIN, "", "the limit of processes was reached"},
      {StartStep::clone, ENOMEM, "", "no memory left for another process"},
      {StartStep::prepare, EMFILE, "", "the limit of open files per process was reached"},
      {StartStep::prepare, ENFILE, "", "the machine has no free file descriptor"},
      {StartStep::prepare, ENOSPC, "/log/0", "there is no space left for /log/0"},
      {StartStep::prepare, EROFS, "/log/0", "/log/0 is on a file system that is mounted read-only"},
      {StartStep::working_directory, ENOENT, "/gone", "/gone cannot be entered (No such file or directory)"},
      {StartStep::affinity, EINVAL, "", "could not be bound to its CPUs (Invalid argument)"},
      {StartStep::resource_limit, EPERM, "", "limit of open files could not be set"},
      {StartStep::terminal, ENOTTY, "", "could not be given the terminal"},
      {StartStep::parent_death, ESRCH, "", "its launcher was gone"},
      {StartStep::process_group, EPERM, "", "the step setpgid failed (Operation not permitted)"},
      {StartStep::descriptors, EBADF, "", "the step close_range failed (Bad file descriptor)"},
      {StartStep::standard_streams, EBADF, "", "the step dup3 failed (Bad file descriptor)"},
  };
  for (const auto& row : table) {
    const Diagnosis diagnosis = diagnosis_of(an_ending(5).failed_to_start(row.step, row.os_errno, row.subject));
    EXPECT_EQ(diagnosis.category, Category::failed_to_start);
    EXPECT_EQ(diagnosis.summary.find("Rank 5 could not be started: "), 0U) << diagnosis.summary;
    EXPECT_NE(diagnosis.summary.find(row.part), std::string::npos) << diagnosis.summary;
  }
}

TEST(StartRule, EveryStepAndEveryError_HasNoHole) {
  for (int step = 0; step <= static_cast<int>(StartStep::execute); ++step) {
    for (int os_errno = 0; os_errno < 134; ++os_errno) {
      const Diagnosis diagnosis =
          diagnosis_of(an_ending(0).failed_to_start(static_cast<StartStep>(step), os_errno, "{subject}"));
      EXPECT_FALSE(diagnosis.summary.empty());
    }
  }
}

}  // namespace
}  // namespace forklift
