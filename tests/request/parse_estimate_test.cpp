// The command line of `forklift estimate`.
#include "launcher/request/parse_estimate.hpp"

#include <gtest/gtest.h>

#include "launcher/request/value_text.hpp"
#include "tests/request/request_builders.hpp"

namespace forklift {
namespace {

EstimateRequest estimate_of(const std::string& line) {
  const auto request = parse_estimate(words_of(line));
  if (request) return request.value();
  ADD_FAILURE() << line << "\n  " << request.error().message;
  return {};
}

std::string refusal_of(const std::string& line) {
  const auto request = parse_estimate(words_of(line));
  if (request) return "accepted";
  EXPECT_EQ(request.error().kind, ErrorKind::usage);
  return request.error().message;
}

TEST(ParseEstimate, EveryOption_IsKept) {
  const EstimateRequest request =
      estimate_of("--bytes 2K --dtype bfloat16 --num_processes=8 --format json --host-facts node.json");
  EXPECT_EQ(request.bytes, 2048U);
  EXPECT_EQ(request.dtype, "bfloat16");
  EXPECT_EQ(request.processes, 8);
  EXPECT_EQ(request.format, OutputFormat::json);
  EXPECT_EQ(request.host_facts_file, "node.json");
  EXPECT_EQ(estimate_of("--model a=b --num-processes 1").model_path, "a=b");
  EXPECT_EQ(estimate_of("--model=a=b --num-processes 1").model_path, "a=b");
  EXPECT_EQ(estimate_of("--bytes 1 --num-processes 1 --num-processes 2").processes, 2);
}

TEST(ParseEstimate, WrongWords_AreNamed) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "estimate: expected either --model PATH or --bytes N"},
      {"--num-processes 2", "estimate: expected either --model PATH or --bytes N"},
      {"--model m --bytes 1 --num-processes 2", "estimate: expected either --model PATH or --bytes N"},
      {"--model \"\" --num-processes 2", "estimate: --model: got '', expected the path of a model"},
      {"--model m --dtype float16 --num-processes 2", "estimate: --dtype goes with --bytes, a file says it itself"},
      {"--bytes 0 --num-processes 2",
       "estimate: --bytes: got '0', expected a size above 0, as 13476831232, 440M or 12.5G (steps of 1024)"},
      {"--bytes much --num-processes 2",
       "estimate: --bytes: got 'much', expected a size above 0, as 13476831232, 440M or 12.5G (steps of 1024)"},
      {"--bytes 1 --dtype int8 --num-processes 2",
       "estimate: --dtype: got 'int8', expected float32, float16 or bfloat16"},
      {"--bytes 1", "estimate: --num-processes is missing, expected --num-processes N"},
      {"--bytes 1 --num-processes 0", "estimate: --num-processes: got '0', expected a whole number from 1 to 1000000"},
      {"--bytes 1 --num-processes", "estimate: --num-processes needs a value"},
      {"--bytes 1 --num-processes 2 --format xml", "estimate: --format: got 'xml', expected text or json"},
      {"--bytes 1 --num-processes 2 --host-facts \"\"",
       "estimate: --host-facts: got '', expected a file made by forklift env --format json"},
      {"bert", "estimate: got 'bert', expected an option of forklift estimate --help"},
      {"--byte 1", "estimate: got '--byte', expected an option of forklift estimate --help"},
  };
  for (const auto& [line, sentence] : rows) EXPECT_EQ(refusal_of(line), sentence) << line;
}

TEST(ParseBytes, NumbersAndUnits) {
  const std::pair<std::string, std::uint64_t> rows[] = {
      {"0", 0},
      {"13476831232", 13'476'831'232},
      {"7B", 7},
      {"1k", 1024},
      {"1K", 1024},
      {"3KB", 3072},
      {"440M", 461'373'440},
      {"1.5MiB", 1'572'864},
      {"12.5G", 13'421'772'800},
      {"1t", std::uint64_t{1} << 40U},
      {"1048576T", std::uint64_t{1} << 60U},
  };
  for (const auto& [text, bytes] : rows) EXPECT_EQ(parse_bytes(text), bytes) << text;
}

TEST(ParseBytes, AnythingElse_IsRefused) {
  for (const char* text : {"",
                           "G",
                           "-1",
                           "+1",
                           " 1",
                           "1 G",
                           "1.5",
                           "1.",
                           ".5G",
                           "1..5G",
                           "1.5.1G",
                           "1P",
                           "1Gi",
                           "1GBs",
                           "0x10",
                           "1e3",
                           "1048577T",
                           "2000000.0T",
                           "99999999999999999999",
                           "nan",
                           "inf"})
    EXPECT_FALSE(parse_bytes(text)) << text;
}

}  // namespace
}  // namespace forklift
