// `forklift estimate`: another machine's memory, three exit statuses, text and JSON.
#include <gtest/gtest.h>

#include "tests/end_to_end/job_test.hpp"

namespace forklift {
namespace {

using support::Ended;
using support::Json;
using support::lines_of;
using support::Words;
using support::operator+;

class Estimate : public support::JobTest {
 protected:
  /// On a machine with 61 GiB to be had.
  [[nodiscard]] Ended estimate(const Words& words) const {
    const auto facts =
        scratch().write("node.json", R"({"version":1,"hostname":"node7","memory_available_bytes":65498251264})");
    return support::run(forklift(Words{"estimate", "--host-facts", facts} + words));
  }
};

TEST_F(Estimate, ModelThatFitsOnlyShared_IsSuccess) {
  const Ended ended = estimate({"--bytes", "13G", "--dtype", "bfloat16", "--num-processes", "8"});
  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_NE(ended.out.find("machine    node7\n"), std::string::npos);
  EXPECT_NE(ended.out.find("It fits when the model is shared: 13.0 GiB, once for all 8 processes."), std::string::npos);
}

TEST_F(Estimate, ModelThatDoesNotFitOnce_Is1) {
  const Ended ended = estimate({"--bytes=100G", "--num_processes", "2", "--format", "json"});
  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 1);
  const Json json = Json::parse(ended.out, nullptr, false);
  EXPECT_EQ(json["shared_model_fits"], false);
  EXPECT_EQ(json["hostname"], "node7");
  EXPECT_EQ(json["memory"]["usable_bytes"], 65498251264);
}

TEST_F(Estimate, ThisMachine_HasMemoryForAKibibyte) {
  const Ended ended = support::run(forklift({"estimate", "--bytes", "1K", "--num-processes", "2"}));
  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("It fits, also with a copy in each process: 2.0 KiB of "), std::string::npos);
}

TEST_F(Estimate, WrongWords_AreOneSentence) {
  const auto empty = scratch().write("blind.json", R"({"version":1})");
  const struct {
    Words words;
    const char* part;
  } table[] = {
      {{"--num-processes", "2"}, "expected either --model PATH or --bytes N"},
      {{"--bytes", "1G", "--num-processes", "none"}, "--num-processes: got 'none'"},
      {{"--bytes", "1G", "--num-processes", "2", "--host-facts", "/no/such/file"}, "/no/such/file cannot be read"},
      {{"--bytes", "1G", "--num-processes", "2", "--host-facts", empty}, "expected memory_available_bytes"},
      {{"--model", "bert.safetensors", "--num-processes", "2"}, "bert.safetensors': there is no such file"},
  };
  for (const auto& row : table) {
    const Ended ended = support::run(forklift(Words{"estimate"} + row.words));
    SCOPED_TRACE(::testing::Message() << row.part << "\n" << ended);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_of(ended.err).size(), 1U);
    EXPECT_TRUE(ended.err.starts_with("forklift: "));
    EXPECT_NE(ended.err.find(row.part), std::string::npos);
  }
}

TEST_F(Estimate, Help_IsOnStdout) {
  const Ended ended = support::run(forklift({"estimate", "--help"}));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(ended.out.starts_with("Usage: forklift estimate "));
}

}  // namespace
}  // namespace forklift
