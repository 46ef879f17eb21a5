// Every flag of both peers is in the table, with the right appetite for a value, and is told from PROGRAM's own words.
#include "launcher/request/flag_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "launcher/request/flag_lookup.hpp"
#include "launcher/request/split_command.hpp"
#include "tests/request/peer_flags.hpp"

namespace forklift {
namespace {

std::string with_underscores(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '-', '_');
  return text;
}

TEST(FlagTable, EveryPeerFlag_IsKnownInBothSpellings) {
  for (const PeerFlag& peer : peer_flags()) {
    const Flag* flag = find_flag(peer.name);
    ASSERT_NE(flag, nullptr) << peer.name;
    EXPECT_EQ(find_flag(with_underscores(peer.name)), flag) << peer.name;
    EXPECT_EQ(flag->takes_value(), peer.appetite == Appetite::value) << peer.name;
    EXPECT_NE(flag->tool, Tool::forklift) << peer.name;
  }
}

TEST(FlagTable, EveryFlagOfAPeer_IsInThePeersList) {
  std::set<std::string_view> listed;
  for (const PeerFlag& peer : peer_flags()) listed.insert(peer.name);
  for (const Flag& flag : flag_table()) {
    if (flag.tool == Tool::forklift) continue;
    EXPECT_TRUE(listed.contains(flag.name)) << flag.name;
  }
}

TEST(FlagTable, NamesAndLetters_AreUnique) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const Flag& flag : flag_table()) {
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
    if (flag.letter == '\0') continue;
    EXPECT_TRUE(letters.insert(flag.letter).second) << flag.letter;
  }
}

TEST(FlagTable, EveryRow_SaysSomethingAndNamesAnExistingOption) {
  for (const Flag& flag : flag_table()) {
    EXPECT_FALSE(flag.text.empty()) << flag.name;
    EXPECT_EQ(flag.name.find('_'), std::string_view::npos) << flag.name;
    EXPECT_NE(find_flag(flag.option_name()), nullptr) << flag.name;
  }
}

TEST(FlagTable, EveryDependentFlag_NamesASelectorThatIsRefused) {
  for (const Flag& flag : flag_table()) {
    if (flag.status != FlagStatus::dependent || !flag.text.starts_with("--")) continue;
    const Flag* selector = find_flag(flag.text.substr(2));
    ASSERT_NE(selector, nullptr) << flag.name;
    EXPECT_EQ(selector->status, FlagStatus::refused) << flag.name;
  }
}

TEST(FlagTable, TorchrunVariable_IsTheDestInCapitals) {
  EXPECT_EQ(torchrun_variable(*find_flag("nproc-per-node")), "PET_NPROC_PER_NODE");
  EXPECT_EQ(torchrun_variable(*find_flag("tee")), "PET_TEE");
}

// The head as the user may write it: three spellings of one flag.
std::vector<std::vector<std::string>> spellings(const Flag& flag) {
  const std::string dashed = "--" + std::string(flag.name);
  const std::string underscored = "--" + with_underscores(flag.name);
  if (!flag.takes_value()) return {{dashed}, {underscored}};
  return {{dashed, "value"}, {underscored, "value"}, {dashed + "=value"}, {underscored + "=value"}};
}

TEST(SplitCommand, EveryFlagBeforeProgram_IsForkliftsOwn) {
  for (const Flag& flag : flag_table()) {
    if (flag.name == "help") continue;
    for (std::vector<std::string> words : spellings(flag)) {
      words.insert(words.end(), {"train.py", "--lr", "1"});
      const Result<SplitCommand> split = split_command(words);
      ASSERT_TRUE(split) << flag.name << ": " << split.error().message;
      ASSERT_EQ(split.value().head.size(), 1U) << flag.name;
      EXPECT_EQ(split.value().head[0].flag, &flag) << flag.name;
      EXPECT_EQ(split.value().head[0].value, flag.takes_value() ? "value" : "") << flag.name;
      EXPECT_EQ(split.value().program, "train.py") << flag.name;
      EXPECT_EQ(split.value().arguments, (std::vector<std::string>{"--lr", "1"})) << flag.name;
    }
  }
}

TEST(SplitCommand, EveryFlagAfterProgram_IsProgramsOwn) {
  for (const Flag& flag : flag_table()) {
    for (const std::vector<std::string>& given : spellings(flag)) {
      std::vector<std::string> words{"--quiet", "train.py"};
      words.insert(words.end(), given.begin(), given.end());
      const Result<SplitCommand> split = split_command(words);
      ASSERT_TRUE(split) << flag.name;
      EXPECT_EQ(split.value().head.size(), 1U) << flag.name;
      EXPECT_EQ(split.value().arguments, given) << flag.name;
      EXPECT_EQ(split.value().help, HelpWish::none) << flag.name;
    }
  }
}

}  // namespace
}  // namespace forklift
