// Runs a fuzz check over its corpus, as an ordinary test does.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace forklift::fuzz {

/// Calls `check` with every file of tests/fuzz/corpus/NAME, and with every prefix of it: a dying writer tears its file
/// anywhere. A violated promise aborts with the name of the file.
inline void run_corpus(const std::string& name, void (*check)(std::string_view)) {
  const std::filesystem::path folder = std::filesystem::path(FORKLIFT_SOURCE_DIR) / "tests/fuzz/corpus" / name;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    for (std::size_t length = 0; length <= bytes.size(); ++length) check(std::string_view(bytes).substr(0, length));
    ++files;
  }
  EXPECT_GT(files, 0) << folder;
}

}  // namespace forklift::fuzz
