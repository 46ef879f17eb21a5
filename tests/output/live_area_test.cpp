#include "launcher/output/live_area.hpp"

#include <gtest/gtest.h>

namespace forklift {
namespace {

constexpr auto output = OutputStream::standard_output;
constexpr auto error = OutputStream::standard_error;

std::string unwrapped(const std::string& rows) { return "\x1b[?7l" + rows + "\x1b[?7h"; }

TEST(LiveArea, Nothing_DrawsNothing) {
  LiveArea area;
  EXPECT_EQ(area.redraw(10), "");
  EXPECT_EQ(area.erase(), "");
  EXPECT_TRUE(area.empty());
}

TEST(LiveArea, OneRow_IsDrawnAndErasedInPlace) {
  LiveArea area;
  EXPECT_TRUE(area.set({Rank{0}, error}, "10%"));
  EXPECT_EQ(area.redraw(10), unwrapped("10%"));
  EXPECT_TRUE(area.drawn());
  EXPECT_TRUE(area.set({Rank{0}, error}, "20%"));
  EXPECT_EQ(area.redraw(10), "\r\x1b[J" + unwrapped("20%"));
  EXPECT_EQ(area.erase(), "\r\x1b[J");
  EXPECT_FALSE(area.drawn());
  EXPECT_EQ(area.erase(), "");
}

TEST(LiveArea, SeveralRows_AreInOrderOfRank) {
  LiveArea area;
  area.set({Rank{10}, output}, "c");
  area.set({Rank{2}, error}, "b");
  area.set({Rank{2}, output}, "a");
  EXPECT_EQ(area.redraw(10), unwrapped("a\r\nb\r\nc"));
  EXPECT_EQ(area.erase(), "\r\x1b[2A\x1b[J");
}

TEST(LiveArea, UnchangedText_ChangesNothing) {
  LiveArea area;
  area.set({Rank{0}, output}, "a");
  EXPECT_FALSE(area.set({Rank{0}, output}, "a"));
  EXPECT_FALSE(area.set({Rank{1}, output}, ""));
}

TEST(LiveArea, LastRowRemoved_RedrawErases) {
  LiveArea area;
  area.set({Rank{0}, output}, "a");
  area.redraw(10);
  EXPECT_TRUE(area.set({Rank{0}, output}, ""));
  EXPECT_EQ(area.redraw(10), "\r\x1b[J");
}

TEST(LiveArea, MoreRowsThanTheTerminal_SaysHowManyAreLeftOut) {
  LiveArea area;
  for (int rank = 0; rank < 9; ++rank) area.set({Rank{rank}, output}, "r" + std::to_string(rank));
  EXPECT_EQ(area.redraw(3), unwrapped("r0\r\nr1\r\n… and 7 more"));
  EXPECT_EQ(area.redraw(1), "\r\x1b[2A\x1b[J" + unwrapped("… and 9 more"));
}

struct Case {
  const char* name;
  std::string text;
  std::string drawn;
};

const Case cases[] = {
    {"ColourIsKeptAndEnded", "\x1b[31mred", "\x1b[31mred\x1b[0m"},
    {"CursorMovementIsDropped", "a\x1b[2A\x1b[Kb", "ab"},
    {"ControlBytesAreDropped", "a\b\x07\x7f\tb", "ab"},
    {"CutSequenceLosesItsEscape", "a\x1b[3", "a[3"},
    {"Utf8IsKept", "█▌ 50%", "█▌ 50%"},
};

class LiveAreaText : public testing::TestWithParam<Case> {};

TEST_P(LiveAreaText, Row_CannotLeaveItsPlace) {
  LiveArea area;
  area.set({Rank{0}, output}, GetParam().text);
  EXPECT_EQ(area.redraw(10), unwrapped(GetParam().drawn));
}

INSTANTIATE_TEST_SUITE_P(Table, LiveAreaText, testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace forklift
