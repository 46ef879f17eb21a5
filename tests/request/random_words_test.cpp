// No command line, however wrong, breaks the contract of parse_launch: a request, or one sentence.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "launcher/request/flag_table.hpp"
#include "tests/fuzz/corpus.hpp"
#include "tests/fuzz/parse_launch.hpp"

namespace forklift {
namespace {

TEST(ParseLaunchCorpus, EveryFileAndPrefix_KeepsTheContract) {
  fuzz::run_corpus("parse_launch", fuzz::check_parse_launch);
}

/// Words that are close enough to sense to reach every option's own parser.
class WordSource {
 public:
  explicit WordSource(unsigned seed) : random_(seed) {}

  std::string command_line() {
    std::string lines;
    for (std::size_t n = below(12); n > 0; --n) lines += line() + "\n";
    return lines;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::string line() {
    switch (below(5)) {
      case 0:
        return value();
      case 1:
        return noise();
      case 2:
        return "$" + torchrun_variable(flag()) + "=" + value();
      case 3:
        return "--" + std::string(flag().name) + "=" + value();
      default:
        return "--" + std::string(flag().name);
    }
  }

  const Flag& flag() { return flag_table()[below(flag_table().size())]; }

  std::string value() {
    static const std::vector<std::string> values{
        "0",       "1",      "2",    "-1",    "1000000", "99999999999", "auto", "gpu", "1:1",
        "1:4",     "static", "c10d", "h:1",   "[::1]:2", "0:3,12:2",    "3",    "90s", "1.5",
        "1:00:00", "USR1@1", "core", "node",  "A=b",     "=",           "",     "--",  "-",
        "-5",      "none",   "json", "never", "torch",   "exit_code"};
    return values[below(values.size())];
  }

  std::string noise() {
    std::string bytes;
    for (std::size_t n = below(20); n > 0; --n) bytes += static_cast<char>(below(256));
    return bytes;
  }

  std::mt19937 random_;
};

TEST(RandomWords, ThousandsOfCommandLines_KeepTheContract) {
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    SCOPED_TRACE(seed);
    fuzz::check_parse_launch(WordSource(seed).command_line());
  }
}

}  // namespace
}  // namespace forklift
