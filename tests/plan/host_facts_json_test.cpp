#include "launcher/plan/host_facts_json.hpp"

#include <gtest/gtest.h>

#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

HostFacts every_fact() {
  HostFacts facts = a_host(2, 2, 2);
  facts.kernel = "6.1.0";
  facts.cpu_quota = 1.5;
  facts.memory_total_bytes = 18'446'744'073'709'551'615U;
  facts.memory_available_bytes = 2;
  facts.memory_limit_bytes = 3;
  facts.memory_limit_room_bytes = 7;
  facts.shm_total_bytes = 4;
  facts.shm_free_bytes = 5;
  facts.open_files_limit = 6;
  facts.accelerators = {{"cuda", "0000:3b:00.0", 1}, {"tpu", "/dev/accel0", -1}};
  facts.capabilities = {{"pidfd", "yes"}, {"pid_namespace", "no: EPERM"}};
  return facts;
}

TEST(HostFactsJson, EveryFact_SurvivesTheRoundTrip) {
  const HostFacts facts = every_fact();
  const auto read = host_facts_from_json(host_facts_to_json(facts));
  ASSERT_TRUE(read) << read.error().message;
  const HostFacts& again = read.value();
  EXPECT_EQ(host_facts_to_json(again), host_facts_to_json(facts));
  EXPECT_EQ(again.cores.size(), 2U);
  EXPECT_EQ(again.cores[1].cpus, (std::vector<int>{1, 3}));
  EXPECT_EQ(again.cores[1].numa_node, 1);
  EXPECT_EQ(again.cpu_quota, facts.cpu_quota);
  EXPECT_EQ(again.memory_total_bytes, facts.memory_total_bytes);
  EXPECT_EQ(again.memory_limit_bytes, facts.memory_limit_bytes);
  EXPECT_EQ(again.memory_limit_room_bytes, facts.memory_limit_room_bytes);
  EXPECT_EQ(again.accelerators[1].numa_node, -1);
  EXPECT_EQ(again.capabilities, facts.capabilities);
}

TEST(HostFactsJson, Unlimited_IsNull) {
  HostFacts facts = every_fact();
  facts.cpu_quota.reset();
  facts.memory_limit_bytes.reset();
  const auto read = host_facts_from_json(host_facts_to_json(facts));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read.value().cpu_quota.has_value());
  EXPECT_FALSE(read.value().memory_limit_bytes.has_value());
}

TEST(HostFactsJson, ShortFileByHand_IsEnough) {
  const auto read = host_facts_from_json(R"({"version":1,"cores":[{"cpus":[0]}],"accelerators":[{"kind":"cuda"}]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(usable_cpus(read.value()), 1);
  EXPECT_EQ(read.value().accelerators[0].numa_node, -1);
}

struct MalformedCase {
  const char* text;
  const char* words;
};

TEST(HostFactsJson, MalformedInput_NamesThePlaceAndWhatWasExpected) {
  const std::vector<MalformedCase> cases = {
      {"", "line 1, column 1: this is not JSON"},
      {"{\n  \"version\": 1,\n  oops}", "line 3, column 3: this is not JSON"},
      {R"({"version":1} x)", "line 1, column 15: this is not JSON"},
      {"[]", "host facts: saw [], expected an object"},
      {"{}", "version: expected 1"},
      {R"({"version":2})", "version: saw 2, expected a whole number from 1 to 1"},
      {R"({"version":1,"cpu":4})", "cpu: unknown key; expected one of version, hostname"},
      {R"({"version":1,"hostname":7})", "hostname: saw 7, expected a text"},
      {R"({"version":1,"cores":4})", "cores: saw 4, expected a list"},
      {R"({"version":1,"cores":[4]})", "cores[0]: saw 4, expected an object"},
      {R"({"version":1,"cores":[{}]})", "cores[0].cpus: expected a list of CPU numbers"},
      {R"({"version":1,"cores":[{"cpus":[]}]})", "cores[0].cpus: saw [], expected at least one CPU number"},
      {R"({"version":1,"cores":[{"cpus":[0]},{"cpus":["1"]}]})", "cores[1].cpus[0]: saw \"1\", expected a CPU number"},
      {R"({"version":1,"cores":[{"cpus":[-1]}]})", "cores[0].cpus[0]: saw -1"},
      {R"({"version":1,"cores":[{"cpus":[1.5]}]})", "cores[0].cpus[0]: saw 1.5"},
      {R"({"version":1,"cores":[{"cpus":[2,1]}]})",
       "cores[0].cpus: saw [2,1], expected CPU numbers in ascending order"},
      {R"({"version":1,"cores":[{"cpus":[0]},{"cpus":[0]}]})", "cores[1].cpus[0]: CPU 0 is named twice"},
      {R"({"version":1,"cores":[{"cpus":[0],"numa_node":-1}]})", "cores[0].numa_node: saw -1"},
      {R"({"version":1,"cores":[{"cpus":[0],"numa_node":18446744073709551615}]})", "expected a whole number from 0"},
      {R"({"version":1,"cores":[{"cpus":[0],"node":1}]})", "cores[0].node: unknown key"},
      {R"({"version":1,"cpu_quota":0})", "cpu_quota: saw 0, expected a number over 0, or null"},
      {R"({"version":1,"cpu_quota":"2"})", "cpu_quota: saw \"2\""},
      {R"({"version":1,"memory_total_bytes":-5})", "memory_total_bytes: saw -5, expected a whole number, 0 or more"},
      {R"({"version":1,"memory_total_bytes":null})", "memory_total_bytes: saw null"},
      {R"({"version":1,"memory_limit_bytes":1.5})",
       "memory_limit_bytes: saw 1.5, expected a whole number, 0 or more, or null"},
      {R"({"version":1,"accelerators":[{"kind":"gpu"}]})", "accelerators[0].kind: saw \"gpu\", expected one of cuda"},
      {R"({"version":1,"accelerators":[{"address":"x"}]})", "accelerators[0].kind: saw \"\""},
      {R"({"version":1,"accelerators":{}})", "accelerators: saw {}, expected a list"},
      {R"({"version":1,"capabilities":[]})", "capabilities: saw [], expected an object"},
      {R"({"version":1,"capabilities":{"pidfd":true}})", "capabilities.pidfd: saw true, expected a text"},
      {R"({"version":1,"cpu_quota":1e999})", "host facts"}};
  for (const MalformedCase& row : cases) {
    const auto read = host_facts_from_json(row.text);
    ASSERT_FALSE(read) << row.text;
    EXPECT_EQ(read.error().kind, ErrorKind::usage);
    EXPECT_NE(read.error().message.find(row.words), std::string::npos) << row.text << "\n" << read.error().message;
    EXPECT_TRUE(read.error().message.starts_with("host facts: ")) << read.error().message;
  }
}

TEST(HostFactsJson, LongWrongValue_IsCutInTheMessage) {
  const auto read = host_facts_from_json(R"({"version":1,"cores":")" + std::string(10'000, 'x') + R"("})");
  ASSERT_FALSE(read);
  EXPECT_LT(read.error().message.size(), 200U);
}

}  // namespace
}  // namespace forklift
