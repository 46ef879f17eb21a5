#include "launcher/request/split_command.hpp"

#include <gtest/gtest.h>

#include "launcher/request/flag_lookup.hpp"
#include "tests/request/request_builders.hpp"

namespace forklift {
namespace {

using Words = std::vector<std::string>;

/// The head as "name=value name=value".
std::string head_of(const SplitCommand& split) {
  std::string text;
  for (const GivenFlag& given : split.head) {
    if (!text.empty()) text += ' ';
    text += given.flag->name;
    if (given.flag->takes_value()) text += "=" + given.value;
  }
  return text;
}

TEST(SplitCommand, EveryForm_SplitsAtTheProgram) {
  struct Row {
    std::string line;
    std::string head;
    std::string program;
    Words arguments;
  };
  const std::vector<Row> rows{
      {"train.py", "", "train.py", {}},
      {"train.py --num-processes 2", "", "train.py", {"--num-processes", "2"}},
      {"--num-processes 2 train.py -m x", "num-processes=2", "train.py", {"-m", "x"}},
      {"--num_processes=2 train.py", "num-processes=2", "train.py", {}},
      {"--num-cpu_threads-per_process 2 train.py", "num-cpu-threads-per-process=2", "train.py", {}},
      {"-m package.module --flag", "module", "package.module", {"--flag"}},
      {"-r 3 -t3 x", "redirects=3 tee=3", "x", {}},
      {"-r=0:3,12:2 x", "redirects=0:3,12:2", "x", {}},
      {"-qm x", "quiet module", "x", {}},
      {"-qr3 x", "quiet redirects=3", "x", {}},
      {"-- --strange-name", "", "--strange-name", {}},
      {"--cpu -- -m", "cpu", "-m", {}},
      {"x -- y", "", "x", {"--", "y"}},
      {"--env A=b=c x", "env=A=b=c", "x", {}},
      {"--env=A=b x", "env=A=b", "x", {}},
      {"--role= x", "role=", "x", {}},
      {"--role \"\" x", "role=", "x", {}},
      {"--num-processes -1 x", "num-processes=-1", "x", {}},
      {"--time-limit -.5 x", "time-limit=-.5", "x", {}},
      {"--log-dir - x", "log-dir=-", "x", {}},
      {"-", "", "-", {}},
      {"--num-processes 2", "num-processes=2", "", {}},
      {"", "", "", {}},
      {"--", "", "", {}},
  };
  for (const Row& row : rows) {
    const Result<SplitCommand> split = split_command(words_of(row.line));
    ASSERT_TRUE(split) << row.line << ": " << split.error().message;
    EXPECT_EQ(head_of(split.value()), row.head) << row.line;
    EXPECT_EQ(split.value().program, row.program) << row.line;
    EXPECT_EQ(split.value().arguments, row.arguments) << row.line;
  }
}

TEST(SplitCommand, WrongHead_IsOneSentenceThatNamesTheFlag) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"--num-procs 2 x", "unknown flag '--num-procs'; the nearest known one is --num-processes"},
      {"--num-proc 2 x", "unknown flag '--num-proc': flags cannot be abbreviated, write --num-processes"},
      {"--m x", "flags cannot be abbreviated, write --module or"},
      {"--num-procesess 2 x", "unknown flag '--num-procesess'; the nearest known one is --num-processes"},
      {"--nproc_per_nod=2 x", "write --nproc-per-node"},
      {"--lr 0.1 x", "unknown flag '--lr'; forklift launch --help lists the flags, those of PROGRAM stand after it"},
      {"--standalnoe x", "the nearest known one is --standalone"},
      {"--=2 x", "unknown flag '--'"},
      {"-x x", "unknown flag '-x'"},
      {"-mz x", "unknown flag '-z'"},
      {"--cpu=true x", "--cpu takes no value, but 'true' was given"},
      {"-m=1 x", "-m takes no value"},
      {"--log-dir", "--log-dir needs a value (DIR), but the command line ends there"},
      {"--log-dir --tee 3 x", "--log-dir needs a value (DIR), but '--tee' follows; write --log-dir=VALUE"},
      {"--log-dir -- x", "--log-dir needs a value (DIR), but '--' follows"},
      {"-r", "-r needs a value (MASK)"},
      {"--cpu \"\"", "the name of the program is empty"},
  };
  for (const auto& [line, part] : rows) {
    const Result<SplitCommand> split = split_command(words_of(line));
    ASSERT_FALSE(split) << line;
    EXPECT_EQ(split.error().kind, ErrorKind::usage) << line;
    EXPECT_TRUE(contains(split.error().message, part)) << line << "\n  " << split.error().message;
    EXPECT_FALSE(contains(split.error().message, "\n")) << line;
  }
}

TEST(EditDistance, KnownPairs_CountInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("abcd", "abdc"), 1U);
  EXPECT_EQ(edit_distance("nproc", "nproc"), 0U);
}

TEST(UnknownFlag, LongOrStrangeNames_AreCutAndStayOnOneLine) {
  const std::string long_name = unknown_flag_sentence(std::string(100'000, 'x'));
  EXPECT_LT(long_name.size(), 200U);
  EXPECT_FALSE(contains(unknown_flag_sentence("a\nb"), "\n"));
}

}  // namespace
}  // namespace forklift
