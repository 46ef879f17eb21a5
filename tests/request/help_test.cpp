#include "launcher/request/help.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "launcher/request/flag_table.hpp"
#include "tests/request/request_builders.hpp"

namespace forklift {
namespace {

TEST(AsksForHelp, BeforeProgram_EvenIfTheRestIsWrong_Yes) {
  EXPECT_TRUE(asks_for_help(words_of("--help")));
  EXPECT_TRUE(asks_for_help(words_of("-h --no-such-flag")));
  EXPECT_TRUE(asks_for_help(words_of("--num-processes 2 -h x")));
  EXPECT_TRUE(asks_for_help(words_of("-qh")));
}

TEST(AsksForHelp, AfterProgramOrAsAValue_No) {
  EXPECT_FALSE(asks_for_help(words_of("train.py --help")));
  EXPECT_FALSE(asks_for_help(words_of("-- -h")));
  EXPECT_FALSE(asks_for_help(words_of("--log-dir=--help x")));
  EXPECT_FALSE(asks_for_help(words_of("--no-such-flag -h")));
  EXPECT_FALSE(asks_for_help({}));
}

TEST(Help, EveryText_FitsEightyColumnsAndHasNoTrailingBlanks) {
  for (const std::string& text : {forklift_help(), launch_help(), report_help(), estimate_help(), env_help()}) {
    EXPECT_TRUE(text.starts_with("Usage: forklift "));
    EXPECT_TRUE(text.ends_with("\n"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(Help, LaunchHelp_NamesEveryFlagButPluginDetails) {
  const std::string text = launch_help();
  for (const Flag& flag : flag_table())
    EXPECT_EQ(contains(text, "--" + std::string(flag.name)), flag.status != FlagStatus::dependent) << flag.name;
}

TEST(Help, ForkliftHelp_NamesEveryVerb) {
  for (const char* verb : {"launch", "report", "estimate", "env", "version"})
    EXPECT_TRUE(contains(forklift_help(), "\n  " + std::string(verb) + " ")) << verb;
}

}  // namespace
}  // namespace forklift
