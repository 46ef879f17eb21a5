#include "launcher/diagnose/plain_text.hpp"

#include <gtest/gtest.h>

namespace forklift {
namespace {

constexpr const char* unknown = "\xEF\xBF\xBD";

TEST(ValidUtf8, ValidText_IsUnchanged) {
  const std::string text = "plain, \xC3\xA9, \xE2\x82\xAC, \xF0\x9F\x9A\x80\n";
  EXPECT_EQ(valid_utf8(text), text);
}

TEST(ValidUtf8, InvalidBytes_AreReplacedOneByOne) {
  const struct {
    std::string bytes;
    int replaced;
  } table[] = {
      {"\xFF", 1},              // never a lead byte
      {"\xC0\xAF", 2},          // overlong '/'
      {"\xE0\x80\x80", 3},      // overlong NUL
      {"\xED\xA0\x80", 3},      // surrogate
      {"\xF4\x90\x80\x80", 4},  // above U+10FFFF
      {"\xE2\x82", 2},          // torn
      {"\x80", 1},              // continuation without a lead
  };
  for (const auto& row : table) {
    std::string expected = "a";
    for (int count = 0; count < row.replaced; ++count) expected += unknown;
    EXPECT_EQ(valid_utf8("a" + row.bytes + "b"), expected + "b");
  }
}

TEST(PlainText, EscapeSequences_AreRemoved) {
  EXPECT_EQ(plain_text("\x1b[1;31mred\x1b[0m text"), "red text");
  EXPECT_EQ(plain_text("\x1b]0;title\a"
                       "after"),
            "after");
  EXPECT_EQ(plain_text("\x1b]8;;http://x\x1b\\link"), "link");
  EXPECT_EQ(plain_text("torn \x1b[12\nnext"), "torn \nnext");
  EXPECT_EQ(plain_text("end\x1b"), "end");
}

TEST(PlainText, CarriageReturns_KeepWhatATerminalShows) {
  EXPECT_EQ(plain_text(" 1%\r50%\r99%\ndone\r\n"), "99%\ndone\n");
  EXPECT_EQ(plain_text("only progress\r"), "only progress");
}

TEST(PlainText, ControlCharacters_AreRemovedAndTabsStay) {
  EXPECT_EQ(plain_text(std::string("a\0b\tc\x07", 6)), "ab\tc");
}

TEST(SplitLines, UnfinishedAndEmptyLines_AreLines) {
  EXPECT_TRUE(split_lines("").empty());
  EXPECT_EQ(split_lines("a\n\nb").size(), 3U);
  EXPECT_EQ(split_lines("a\n").size(), 1U);
}

TEST(LastLines, MoreThanAsked_KeepsTheLastWithoutTrailingBlankOnes) {
  EXPECT_EQ(last_lines("1\n2\n3\n\n  \n", 2), (std::vector<std::string>{"2", "3"}));
  EXPECT_TRUE(last_lines("").empty());
}

TEST(LastLines, LongLine_IsCutAtACharacter) {
  const std::vector<std::string> lines = last_lines("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 1, 8);
  EXPECT_EQ(lines.at(0), "\xC3\xA9\xC3\xA9\xE2\x80\xA6");
}

TEST(OneLine, LineBreaks_BecomeSpaces) {
  EXPECT_EQ(one_line(" a\nb\r\n", 80), "a b");
  EXPECT_EQ(one_line("abcdefgh", 6), "abc\xE2\x80\xA6");
}

TEST(FormatBytes, EveryUnit_HasOneDecimal) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{1} << 30), "1.0 GiB");
  EXPECT_EQ(format_bytes((std::uint64_t{1} << 30) - 1), "1.0 GiB");
  EXPECT_EQ(format_bytes(~std::uint64_t{0}), "16.0 EiB");
}

}  // namespace
}  // namespace forklift
