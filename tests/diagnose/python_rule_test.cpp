// Python exceptions: from stderr, from an error file.
#include <gtest/gtest.h>

#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::diagnosis_of;
using testing::expect_says;
using testing::traceback_ending_in;

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

}  // namespace
}  // namespace forklift
