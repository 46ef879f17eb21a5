#include "launcher/output/tail.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace forklift {
namespace {

std::string numbered_lines(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) text += "ordinary line number " + std::to_string(i) + "\n";
  return text;
}

std::string traceback(std::size_t bytes, const std::string& error) {
  std::string text = "Traceback (most recent call last):\n";
  while (text.size() < bytes) text += "  File \"train.py\", line 12, in step\n";
  return text + error + "\n";
}

std::string tail_of(std::string_view bytes, std::size_t chunk) {
  Tail tail;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size()))) tail.feed(bytes.substr(0, chunk));
  return tail.text();
}

constexpr std::size_t chunk_sizes[] = {1, 7, 80, 4096, 65536, std::size_t{1} << 24};

class TailChunks : public testing::TestWithParam<std::size_t> {};

TEST_P(TailChunks, LittleOutput_IsKeptWhole) {
  const std::string text = numbered_lines(0, 100);
  EXPECT_EQ(tail_of(text, GetParam()), text);
}

TEST_P(TailChunks, MuchOutput_KeepsTheLastBytes) {
  const std::string text = numbered_lines(0, 20'000);
  EXPECT_EQ(tail_of(text, GetParam()), text.substr(text.size() - Tail::usual_bytes));
}

TEST_P(TailChunks, LongTracebackAtTheEnd_IsWhole) {
  const std::string error = traceback(50'000, "ValueError: no such shape");
  EXPECT_EQ(tail_of(numbered_lines(0, 5000) + error, GetParam()), error);
}

TEST_P(TailChunks, LineOfTheTracebackWithPrefix_IsKeptFromItsBeginning) {
  const std::string error = "[rank3]: " + traceback(20'000, "[rank3]: KeyError: 'loss'");
  EXPECT_EQ(tail_of(numbered_lines(0, 5000) + error, GetParam()), error);
}

TEST_P(TailChunks, ChainedTracebacksThatFit_AreBothKept) {
  const std::string both = traceback(20'000, "KeyError: 1") +
                           "\nDuring handling of the above exception, another exception occurred:\n\n" +
                           traceback(20'000, "ValueError: 2");
  EXPECT_EQ(tail_of(numbered_lines(0, 5000) + both, GetParam()), both);
}

TEST_P(TailChunks, TracebacksThatDoNotFit_TheLaterIsKeptWhole) {
  const std::string later = traceback(40'000, "ValueError: 2");
  EXPECT_EQ(tail_of(traceback(40'000, "KeyError: 1") + later, GetParam()), later);
}

TEST_P(TailChunks, OutputLongAfterATraceback_KeepsBothAndSaysWhatIsMissing) {
  const std::string error = traceback(1000, "ValueError: handled");
  const std::string later = numbered_lines(0, 20'000);
  const std::string kept = tail_of(error + later, GetParam());
  EXPECT_TRUE(kept.starts_with(error));
  const std::size_t left_out = error.size() + later.size() - Tail::traceback_bytes - Tail::usual_bytes;
  EXPECT_NE(kept.find("\n[" + std::to_string(left_out) + " bytes left out]\n"), std::string::npos);
  EXPECT_TRUE(kept.ends_with(later.substr(later.size() - Tail::usual_bytes)));
}

TEST_P(TailChunks, LaterTracebackAfterMuchOutput_ReplacesTheEarlier) {
  const std::string last = traceback(30'000, "ValueError: last");
  EXPECT_EQ(tail_of(traceback(1000, "KeyError: first") + numbered_lines(0, 10'000) + last, GetParam()), last);
}

TEST_P(TailChunks, TracebackBeyondTheLimit_KeepsItsBeginningAndTheEnd) {
  const std::string error = traceback(200'000, "RecursionError: too deep");
  const std::string kept = tail_of(error, GetParam());
  EXPECT_TRUE(kept.starts_with(error.substr(0, Tail::traceback_bytes)));
  EXPECT_TRUE(kept.ends_with(error.substr(error.size() - Tail::usual_bytes)));
}

INSTANTIATE_TEST_SUITE_P(Sizes, TailChunks, testing::ValuesIn(chunk_sizes),
                         [](const auto& test) { return "Of" + std::to_string(test.param); });

TEST(Tail, NothingFed_IsEmpty) { EXPECT_EQ(Tail().text(), ""); }

TEST(Tail, OverwrittenProgress_IsLeftOut) {
  EXPECT_EQ(tail_of("start\n\r10%\r20%\r100%\nend\r\nlast\r", 100), "start\n100%\nend\nlast");
}

TEST(Tail, TracebackAfterUnfinishedProgress_BeginsAfterTheReturn) {
  const std::string error = traceback(20'000, "ValueError: x");
  EXPECT_EQ(tail_of(numbered_lines(0, 1000) + "10%\r" + error, 4096), error);
}

}  // namespace
}  // namespace forklift
