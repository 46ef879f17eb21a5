#include "launcher/diagnose/python_traceback.hpp"

#include <gtest/gtest.h>

#include "launcher/diagnose/plain_text.hpp"
#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::traceback_ending_in;

PythonFailure failure_in(const std::string& text) {
  const auto failure = find_python_failure(plain_text(text));
  EXPECT_TRUE(failure) << text;
  return failure.value_or(PythonFailure{});
}

TEST(PythonTraceback, AmongOtherOutput_IsFoundWhole) {
  const PythonFailure failure = failure_in("epoch 1\n" + traceback_ending_in("ValueError: bad batch") +
                                           "[W606 12:00:00 ProcessGroup.cpp:1] leaked\n");
  EXPECT_EQ(failure.exception, (ExceptionLine{"ValueError", "bad batch"}));
  EXPECT_EQ(failure.traceback + "\n", traceback_ending_in("ValueError: bad batch"));
}

TEST(PythonTraceback, Several_GiveTheLast) {
  const PythonFailure failure =
      failure_in(traceback_ending_in("KeyError: 'a'") + "retry\n" + traceback_ending_in("ValueError: b"));
  EXPECT_EQ(failure.exception.type, "ValueError");
  EXPECT_FALSE(contains(failure.traceback, "KeyError"));
}

TEST(PythonTraceback, ExceptionWithoutMessage_IsItsType) {
  EXPECT_EQ(failure_in(traceback_ending_in("KeyboardInterrupt")).exception, (ExceptionLine{"KeyboardInterrupt", ""}));
}

TEST(PythonTraceback, ChainedExceptions_BelongTogether) {
  for (const char* link : {"During handling of the above exception, another exception occurred:",
                           "The above exception was the direct cause of the following exception:"}) {
    const std::string text = traceback_ending_in("KeyError: 'a'") + "\n" + link + "\n\n" +
                             traceback_ending_in("RuntimeError: b") + "\n" + link + "\n\n" +
                             traceback_ending_in("ValueError: c");
    const PythonFailure failure = failure_in("noise\n" + text + "\nmore noise\n");
    EXPECT_EQ(failure.exception, (ExceptionLine{"ValueError", "c"}));
    EXPECT_EQ(failure.traceback + "\n", text);
  }
}

TEST(PythonTraceback, ColoursAndRankMarks_AreRemoved) {
  const std::string text =
      "[rank3]: \x1b[1mTraceback (most recent call last):\x1b[0m\n"
      "[rank3]:   File \x1b[35m\"train.py\"\x1b[0m, line 7, in <module>\n"
      "[rank3]:     main()\n"
      "[rank3]: \x1b[1;35mValueError\x1b[0m: \x1b[35mbad batch\x1b[0m\n"
      "[rank3]:[E606 01:02:03.4 ProcessGroupNCCL.cpp:1] other\n";
  const PythonFailure failure = failure_in(text);
  EXPECT_EQ(failure.exception, (ExceptionLine{"ValueError", "bad batch"}));
  EXPECT_EQ(failure.traceback,
            "Traceback (most recent call last):\n  File \"train.py\", line 7, in <module>\n    main()\nValueError: bad "
            "batch");
}

TEST(PythonTraceback, MessageOfSeveralLines_IsKept) {
  const std::string text = traceback_ending_in(
      "RuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be reported later.\nCompile "
      "with TORCH_USE_CUDA_DSA");
  EXPECT_EQ(failure_in(text + "\nunrelated\n").traceback + "\n", text);
}

TEST(PythonTraceback, MessageOfIndentedParagraphs_IsKept) {
  const PythonFailure failure = failure_in(
      traceback_ending_in("RuntimeError: \n        first paragraph\n\n        second paragraph") + "\nunrelated\n");
  EXPECT_TRUE(contains(failure.traceback, "second paragraph"));
  EXPECT_FALSE(contains(failure.traceback, "unrelated"));
}

TEST(PythonTraceback, DataLoaderWorker_GivesTheWorkersException) {
  const PythonFailure failure =
      failure_in(traceback_ending_in("ValueError: Caught ValueError in DataLoader worker process 0.\n"
                                     "Original Traceback (most recent call last):\n"
                                     "  File \"worker.py\", line 1, in _worker_loop\n    data = fetch()\n"
                                     "KeyError: 'image'"));
  EXPECT_EQ(failure.exception, (ExceptionLine{"KeyError", "'image'"}));
  EXPECT_TRUE(contains(failure.traceback, "Caught ValueError"));
}

TEST(PythonTraceback, ExceptionGroup_IsWhole) {
  const std::string text =
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"x.py\", line 1, in <module>\n"
      "  |     raise group\n"
      "  | ExceptionGroup: two (2 sub-exceptions)\n"
      "  +-+---------------- 1 ----------------\n"
      "    | ValueError: 1\n"
      "    +------------------------------------\n";
  const PythonFailure failure = failure_in(text + "after\n");
  EXPECT_EQ(failure.exception, (ExceptionLine{"ExceptionGroup", "two (2 sub-exceptions)"}));
  EXPECT_EQ(failure.traceback + "\n", text);
}

TEST(PythonTraceback, SurvivedExceptions_DoNotCount) {
  const std::string ignored = "Exception ignored in: <function f>\n" + traceback_ending_in("OSError: closed");
  const std::string logged = "--- Logging error ---\n" + traceback_ending_in("BrokenPipeError: gone");
  EXPECT_FALSE(find_python_failure(ignored));
  EXPECT_FALSE(find_python_failure(logged));
  EXPECT_EQ(failure_in(traceback_ending_in("ValueError: b") + ignored + logged).exception.type, "ValueError");
}

TEST(PythonTraceback, SyntaxError_IsFoundWithoutHeader) {
  const std::string text = "  File \"train.py\", line 3\n    foo(\n       ^\nSyntaxError: '(' was never closed\n";
  const PythonFailure failure = failure_in("starting\n" + text);
  EXPECT_EQ(failure.exception, (ExceptionLine{"SyntaxError", "'(' was never closed"}));
  EXPECT_EQ(failure.traceback + "\n", text);
}

TEST(PythonTraceback, TornOrAbsent_GivesNothing) {
  for (const char* text : {"", "all is well\n", "ValueError: bad batch\n", "Traceback (most recent call last):\n",
                           "Traceback (most recent call last):\n  File \"x.py\", line 1\n"}) {
    EXPECT_FALSE(find_python_failure(text)) << text;
  }
}

TEST(FatalPythonError, Report_EndsAtTheLastFrame) {
  const std::string report =
      "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
      "  File \"train.py\", line 3 in crash\n  File \"train.py\", line 9 in <module>\n\n"
      "Extension modules: numpy.core (total: 1)";
  EXPECT_EQ(find_fatal_python_error("before\n" + report + "\nafter\n"), report);
  EXPECT_EQ(find_fatal_python_error("nothing\n"), "");
}

}  // namespace
}  // namespace forklift
