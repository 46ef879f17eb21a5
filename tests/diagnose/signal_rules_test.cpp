// Deaths by a signal, exit codes, and ends that nobody saw.
#include <gtest/gtest.h>

#include <csignal>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::diagnosis_of;
using testing::expect_says;
using testing::joined;
using testing::traceback_ending_in;

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

TEST(SignalRule, Faulthandler_IsAdvisedOnlyWhereItWasNotSet) {
  for (const int signal : {SIGSEGV, SIGABRT}) {
    Plan plan = testing::a_python_plan(2);
    const std::vector<Ending> endings{an_ending(0).killed_by(signal)};
    expect_says(diagnose(plan, endings, {}).value().diagnosis.advice, "PYTHONFAULTHANDLER=1");
    plan.environment.push_back({"PYTHONFAULTHANDLER", "1"});
    EXPECT_FALSE(contains(joined(diagnose(plan, endings, {}).value().diagnosis.advice), "PYTHONFAULTHANDLER"));
    plan = testing::a_python_plan(2);
    plan.program_kind = ProgramKind::native;
    EXPECT_FALSE(contains(joined(diagnose(plan, endings, {}).value().diagnosis.advice), "PYTHONFAULTHANDLER"));
  }
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

TEST(ExitCodeRule, EveryCode_IsExplained) {
  for (int code = 1; code <= 255; ++code) {
    const Diagnosis diagnosis = diagnosis_of(an_ending(1).exited(code));
    expect_says(diagnosis.evidence, "rank 1 exited with code " + std::to_string(code));
    EXPECT_FALSE(diagnosis.advice.empty()) << diagnosis.summary;
  }
}

TEST(ExitCodeRule, ExitOfMinusOne_IsNamedBeforeSsh) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).exited(255));
  EXPECT_EQ(diagnosis.summary, "Rank 0 (pid 1000) exited with code 255, which is what exit(-1) becomes.");
  const std::string& advice = diagnosis.advice.front();
  EXPECT_LT(advice.find("exit(-1)"), advice.find("ssh"));
}

TEST(ExitCodeRule, SilentReplica_IsRunAloneWithARank) {
  expect_says(diagnosis_of(an_ending(0).exited(1)).advice, "--nproc-per-node 1");
  const std::vector<Ending> endings{an_ending(0).exited(1)};
  EXPECT_FALSE(contains(joined(diagnose(testing::a_python_plan(1), endings, {}).value().diagnosis.advice), "alone"));
}

TEST(ExitCodeRule, LastLine_IsEvidence) {
  const Diagnosis diagnosis = diagnosis_of(an_ending(0).exited(1).saying("one\nno such dataset: digits\n\n"));
  EXPECT_EQ(diagnosis.category, Category::exit_code);
  EXPECT_EQ(diagnosis.summary, "Rank 0 (pid 1000) exited with code 1.");
  expect_says(diagnosis.evidence, "its last line on stderr: no such dataset: digits");
}

TEST(ExitCodeRule, StderrWasTheTerminal_IsNotTakenForSilence) {
  Plan plan = testing::a_python_plan(1);
  plan.replicas.front().standard_error = StreamRoute::terminal;
  const std::vector<Ending> endings{an_ending(0).exited(1)};
  const Diagnosis diagnosis = diagnose(plan, endings, {}).value().diagnosis;
  EXPECT_EQ(joined(diagnosis.evidence), "rank 0 exited with code 1\nits stderr was the terminal and was not kept\n");
  expect_says(diagnosis.advice, "on the terminal");
  EXPECT_FALSE(contains(joined(diagnosis.advice), "alone"));
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

}  // namespace
}  // namespace forklift
