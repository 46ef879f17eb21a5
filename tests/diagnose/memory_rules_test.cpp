// SIGKILL and SIGBUS: counters and free space × who was hit → verdict.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::diagnosis_of;
using testing::expect_says;
using testing::gibibyte;
using testing::mebibyte;
using testing::traceback_ending_in;

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

/// Four replicas of which the second was killed; each had `peaks[rank]` MiB at most.
std::vector<Ending> four_with_peaks(const std::vector<std::uint64_t>& peaks) {
  std::vector<Ending> endings;
  for (int rank = 0; rank < static_cast<int>(peaks.size()); ++rank) {
    endings.push_back(rank == 1 ? an_ending(rank).killed_by(SIGKILL).peak(peaks[1] * mebibyte)
                                : an_ending(rank)
                                      .killed_by(SIGTERM)
                                      .asked(AskedToStop::politely)
                                      .peak(peaks[static_cast<std::size_t>(rank)] * mebibyte));
  }
  return endings;
}

Diagnosis diagnosis_of_four(const std::vector<Ending>& endings, const AttemptEvidence& evidence,
                            std::optional<ExpectedMemory> expected = {}) {
  Plan plan = testing::a_python_plan(4);
  plan.memory.expected = expected;
  return diagnose(plan, endings, evidence).value().diagnosis;
}

TEST(OutOfMemoryRule, AlikeReplicasFilledTheLimit_AreNamedAsCopies) {
  const Diagnosis diagnosis = diagnosis_of_four(four_with_peaks({1980, 2000, 1990, 1950}), counters(4, 8));
  EXPECT_EQ(
      diagnosis.summary,
      "Rank 1 (pid 1001) was killed by the kernel because the memory limit of 8.0 GiB was reached; 4 replicas held "
      "1.9 GiB to 2.0 GiB each at their peaks, 7.7 GiB together.");
  EXPECT_EQ(
      diagnosis.advice.front(),
      "If that is 4 copies of one model, hold it once instead of 4 times (--model PATH, or load it before the fork "
      "point), or start fewer replicas.");
}

TEST(OutOfMemoryRule, AlikeReplicasFilledTheMachine_AreNamedAsCopies) {
  const Diagnosis diagnosis = diagnosis_of_four(four_with_peaks({15900, 16000, 15900, 15950}), counters({}, 8));
  EXPECT_EQ(diagnosis.summary.find(
                "Rank 1 (pid 1001) was killed by the kernel because the machine ran out of memory (it "
                "has 64.0 GiB); 4 replicas held 15.5 GiB to 15.6 GiB each at their peaks, 62.3 GiB together."),
            0U)
      << diagnosis.summary;
}

TEST(OutOfMemoryRule, NumbersThatDoNotSaySo_AreNotNamedAsCopies) {
  const struct {
    std::vector<Ending> endings;
    AttemptEvidence evidence;
    const char* why;
  } table[] = {
      {four_with_peaks({500, 6000, 500, 500}), counters(4, 8), "one large, three small"},
      {four_with_peaks({1000, 1000, 1000, 1000}), counters(4, 8), "together half of the limit"},
      {four_with_peaks({2000, 2000, 2000, 2000}), counters(3, 8), "the machine ran out, and they had an eighth of it"},
      {{an_ending(1).killed_by(SIGKILL).peak(8000 * mebibyte)}, counters(4, 8), "the others' peaks are not known"},
  };
  for (const auto& row : table) {
    const Diagnosis diagnosis = diagnosis_of_four(row.endings, row.evidence);
    EXPECT_NE(diagnosis.summary.find("; its peak was"), std::string::npos) << row.why << ": " << diagnosis.summary;
    EXPECT_EQ(testing::joined(diagnosis.advice).find("copies of one model"), std::string::npos) << row.why;
  }
}

TEST(OutOfMemoryRule, SharedModel_IsNoCopyOfAnybody) {
  const std::vector<Ending> endings = four_with_peaks({2000, 2000, 2000, 2000});
  const Diagnosis shared = diagnosis_of_four(endings, counters(4, 8), ExpectedMemory{1800 * mebibyte, 0});
  EXPECT_EQ(testing::joined(shared.advice).find("copies of one model"), std::string::npos);
  const Diagnosis partly = diagnosis_of_four(endings, counters(4, 8), ExpectedMemory{100 * mebibyte, 0});
  expect_says(partly.advice, "4 copies of one model");
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

}  // namespace
}  // namespace forklift
