#include "launcher/output/prefix.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace forklift {
namespace {

const PrefixValues values{Rank{12}, LocalRank{4}, "trainer", "node7"};

struct Case {
  const char* name;
  std::string_view prefix_template;
  std::string_view expanded;
};

const Case cases[] = {
    {"Ours", "[${rank}] ", "[12] "},
    {"Torchruns", "[${role_name}${local_rank}]:", "[trainer4]:"},
    {"RoleAndHost", "${role}@${host}: ", "trainer@node7: "},
    {"UnknownName", "${pid} ${rank}", "${pid} 12"},
    {"Unclosed", "${rank} ${ra", "12 ${ra"},
    {"MacroInsideAnUnknownOne", "${a${rank}}", "${a12}"},
    {"LoneDollar", "$ $rank {rank}", "$ $rank {rank}"},
    {"Empty", "", ""},
    {"ValuesAreNotExpandedAgain", "${rank}${rank}", "1212"},
};

class ExpandPrefix : public testing::TestWithParam<Case> {};

TEST_P(ExpandPrefix, Template_GivesItsText) {
  EXPECT_EQ(expand_prefix(GetParam().prefix_template, values), GetParam().expanded);
}

INSTANTIATE_TEST_SUITE_P(Table, ExpandPrefix, testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ExpandPrefix, ValueThatLooksLikeAMacro_StaysAsItIs) {
  EXPECT_EQ(expand_prefix("${role}", {Rank{1}, LocalRank{1}, "${rank}", ""}), "${rank}");
}

TEST(ColourPrefix, NeighbouringRanks_DifferInColourOnly) {
  const std::string first = colour_prefix("[x] ", Rank{0});
  const std::string second = colour_prefix("[x] ", Rank{1});
  EXPECT_NE(first, second);
  EXPECT_TRUE(first.ends_with("m[x] \x1b[0m"));
  EXPECT_TRUE(second.ends_with("m[x] \x1b[0m"));
}

TEST(ColourPrefix, AnyRank_HasAColour) {
  for (int rank = 0; rank < 100; ++rank) EXPECT_TRUE(colour_prefix("a", Rank{rank}).starts_with("\x1b["));
}

TEST(ColourPrefix, EmptyPrefix_StaysEmpty) { EXPECT_EQ(colour_prefix("", Rank{3}), ""); }

}  // namespace
}  // namespace forklift
