#include "worker/kernel_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

using support::TemporaryDirectory;

class KernelFile : public support::LeakChecked {};

TEST_F(KernelFile, File_IsReadWhole) {
  const TemporaryDirectory directory;
  const std::string large(10000, 'x');
  EXPECT_EQ(read_kernel_file(directory.write("large", large)), large);
  EXPECT_EQ(read_kernel_file(directory.write("empty", "")), "");
}

TEST_F(KernelFile, MissingFileOrDirectory_IsNothing) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(read_kernel_file(directory / "missing"));
  EXPECT_FALSE(read_kernel_file(directory.path()));
}

TEST_F(KernelFile, NumbersOfText) {
  const std::pair<const char*, std::optional<std::uint64_t>> table[] = {
      {"0", 0},      {"42\n", 42},
      {" 7 ", 7},    {"18446744073709551615", 18446744073709551615U},
      {"max\n", {}}, {"-1\n", {}},
      {"", {}},      {"\n", {}},
      {"12 34", {}}, {"18446744073709551616", {}},
      {"0x10", {}},
  };
  for (const auto& [text, number] : table) EXPECT_EQ(parse_number(text), number) << "'" << text << "'";
}

TEST_F(KernelFile, NumberLists) {
  const std::pair<const char*, std::vector<int>> table[] = {
      {"0\n", {0}}, {"0-3\n", {0, 1, 2, 3}}, {"0-1,8,10-11\n", {0, 1, 8, 10, 11}}, {"\n", {}}, {"", {}},
      {"3-1", {}},  {"a,2,-,4-", {2}},
  };
  for (const auto& [text, numbers] : table) EXPECT_EQ(parse_number_list(text), numbers) << "'" << text << "'";
}

TEST_F(KernelFile, NumberOfKey_FindsOnlyTheWholeKey) {
  const std::string text = "oom_kill_disable 0\nunder_oom 1\noom_kill 3\nMemTotal:       16318480 kB\nlast 9";
  EXPECT_EQ(number_of_key(text, "oom_kill"), 3U);
  EXPECT_EQ(number_of_key(text, "MemTotal"), 16318480U);
  EXPECT_EQ(number_of_key(text, "last"), 9U);
  EXPECT_FALSE(number_of_key(text, "oom"));
}

TEST_F(KernelFile, NumberedEntries_AreInOrderOfTheirNumbers) {
  const TemporaryDirectory directory;
  for (const char* name : {"node10", "node2", "node0", "node", "node1x", "nodes", "xnode3"}) directory.write(name, "");
  EXPECT_EQ(numbered_entries(directory.path(), "node"), (std::vector<int>{0, 2, 10}));
  EXPECT_TRUE(numbered_entries(directory / "missing", "node").empty());
}

}  // namespace
}  // namespace forklift
