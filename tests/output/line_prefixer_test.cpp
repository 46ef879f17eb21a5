#include "launcher/output/line_prefixer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace forklift {
namespace {

std::string lines_of(const std::vector<std::string_view>& chunks, std::string prefix = "> ") {
  LinePrefixer prefixer(std::move(prefix), ProgressStyle::last_only);
  std::string out;
  for (const std::string_view chunk : chunks) prefixer.feed(chunk, out);
  prefixer.finish(out);
  return out;
}

struct Case {
  const char* name;
  std::string_view bytes;
  std::string_view lines;
};

using namespace std::string_view_literals;

const Case cases[] = {
    {"Nothing", "", ""},
    {"OneLine", "a\n", "> a\n"},
    {"SeveralLines", "a\nbc\n\nd\n", "> a\n> bc\n> \n> d\n"},
    {"LastLineWithoutNewline", "a\nb", "> a\n> b\n"},
    {"OnlyNewline", "\n", "> \n"},
    {"WindowsLineEnds", "a\r\nb\r\n\r\n", "> a\n> b\n> \n"},
    {"SeveralReturnsBeforeNewline", "a\r\r\n", "> a\n"},
    {"ProgressBeforeText", "\r10%\r20%\r100%\n", "> 100%\n"},
    {"ReturnAfterEachText", "10%\r20%\r100%\r\nb\n", "> 100%\n> b\n"},
    {"UnfinishedProgress", "10%\r20%", "> 20%\n"},
    {"UnfinishedProgressWithReturnAtItsEnd", "10%\r20%\r", "> 20%\n"},
    {"OnlyReturn", "\r", ""},
    {"ReturnAndNewline", "\r\n", "> \n"},
    {"NulBytes", "a\0b\n\0\n"sv, "> a\0b\n> \0\n"sv},
    {"InvalidUtf8", "\xff\xc3\n\x80", "> \xff\xc3\n> \x80\n"},
};

class LinePrefixerCase : public testing::TestWithParam<Case> {};

TEST_P(LinePrefixerCase, InOneChunk_GivesItsLines) { EXPECT_EQ(lines_of({GetParam().bytes}), GetParam().lines); }

TEST_P(LinePrefixerCase, ByteByByte_GivesTheSameLines) {
  std::vector<std::string_view> chunks;
  for (std::size_t i = 0; i < GetParam().bytes.size(); ++i) chunks.push_back(GetParam().bytes.substr(i, 1));
  EXPECT_EQ(lines_of(chunks), GetParam().lines);
}

INSTANTIATE_TEST_SUITE_P(Table, LinePrefixerCase, testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

/// Random text in which every kind of line end, and now and then a very long line, is likely.
std::string random_bytes(std::mt19937& random) {
  std::string bytes;
  const auto pieces = std::uniform_int_distribution(0, 60)(random);
  for (int i = 0; i < pieces; ++i) {
    switch (std::uniform_int_distribution(0, 5)(random)) {
      case 0:
        bytes += '\n';
        break;
      case 1:
        bytes += '\r';
        break;
      case 2:
        bytes += "\r\n";
        break;
      case 3:
        bytes.append(std::uniform_int_distribution<std::size_t>(0, 3000)(random), 'x');
        break;
      default:
        bytes += "step " + std::to_string(i);
    }
    if (std::uniform_int_distribution(0, 400)(random) == 0) bytes.append(LinePrefixer::max_line + 10, 'y');
  }
  return bytes;
}

std::vector<std::string_view> random_chunks(std::string_view bytes, std::mt19937& random) {
  std::vector<std::string_view> chunks;
  while (!bytes.empty()) {
    const std::size_t largest = std::uniform_int_distribution(0, 1)(random) == 0 ? 5 : bytes.size();
    const auto size = std::min(
        bytes.size(), std::uniform_int_distribution<std::size_t>(1, std::max<std::size_t>(largest, 1))(random));
    chunks.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return chunks;
}

TEST(LinePrefixer, AnyChunkingOfTheSameBytes_GivesTheSameLines) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const std::string bytes = random_bytes(random);
    const std::string expected = lines_of({bytes});
    EXPECT_TRUE(lines_of(random_chunks(bytes, random)) == expected) << "seed " << seed;
  }
}

TEST(LinePrefixer, LineOfExactlyTheLimit_IsWhole) {
  const std::string line(LinePrefixer::max_line, 'a');
  EXPECT_TRUE(lines_of({line + "\n"}) == "> " + line + "\n");
  EXPECT_TRUE(lines_of({line, "\n"}) == "> " + line + "\n");
}

TEST(LinePrefixer, LineOfSixtyFourMebibytes_GoesOutInMarkedPiecesWithoutLoss) {
  const std::string block(std::size_t{1} << 16, 'a');
  LinePrefixer prefixer("> ", ProgressStyle::last_only);
  const std::string mark = std::string(LinePrefixer::piece_mark) + "\n";
  std::string out;
  std::size_t pieces = 0;
  std::size_t bytes = 0;
  const auto count = [&](std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n') + 1;
      const std::string_view piece = text.substr(0, end);
      const bool marked = piece.ends_with(mark);
      ASSERT_TRUE(piece.starts_with("> "));
      bytes += piece.size() - 2 - (marked ? mark.size() : 1);
      if (marked) ++pieces;
      text.remove_prefix(end);
    }
  };
  for (int i = 0; i < 1024; ++i) {
    prefixer.feed(block, out);
    count(out);
    out.clear();
  }
  prefixer.feed("\nnext\n", out);
  EXPECT_TRUE(out.ends_with("\n> next\n"));
  count(out);
  EXPECT_EQ(pieces, 63U);
  EXPECT_EQ(bytes, (std::size_t{64} << 20) + 4);
}

TEST(LinePrefixer, OutputBufferWithContent_IsAppendedTo) {
  LinePrefixer prefixer("", ProgressStyle::last_only);
  std::string out = "before\n";
  prefixer.feed("a\nb\nc\n", out);
  EXPECT_EQ(out, "before\na\nb\nc\n");
}

TEST(LinePrefixer, AfterFinish_StartsANewLine) {
  LinePrefixer prefixer("> ", ProgressStyle::last_only);
  std::string out;
  prefixer.feed("10%\r20", out);
  prefixer.finish(out);
  prefixer.feed("a\n", out);
  EXPECT_EQ(out, "> 20\n> a\n");
}

struct LiveCase {
  const char* name;
  ProgressStyle style;
  std::string_view bytes;
  std::string_view live;
};

const LiveCase live_cases[] = {
    {"NoReturn", ProgressStyle::live, "loading", ""},
    {"TextAfterReturn", ProgressStyle::live, "\r10%\r20%", "> 20%"},
    {"ReturnAfterText", ProgressStyle::live, "10%\r20%\r", "> 20%"},
    {"LineEnded", ProgressStyle::live, "\r10%\n", ""},
    {"NextLineBegan", ProgressStyle::live, "\r10%\nabc", ""},
    {"OnlyReturn", ProgressStyle::live, "\r", ""},
    {"NotWanted", ProgressStyle::last_only, "\r10%\r20%", ""},
};

class LinePrefixerLive : public testing::TestWithParam<LiveCase> {};

TEST_P(LinePrefixerLive, UnfinishedText_IsShownOnlyIfItIsProgress) {
  LinePrefixer prefixer("> ", GetParam().style);
  std::string out;
  prefixer.feed(GetParam().bytes, out);
  EXPECT_EQ(prefixer.live_text(), GetParam().live);
}

INSTANTIATE_TEST_SUITE_P(Table, LinePrefixerLive, testing::ValuesIn(live_cases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace forklift
