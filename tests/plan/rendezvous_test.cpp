#include <gtest/gtest.h>

#include "launcher/plan/placeholders.hpp"
#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

std::string planned_value(const Plan& plan, const std::string& name) {
  for (const EnvironmentVariable& variable : plan.environment) {
    if (variable.name == name) return variable.value;
  }
  return "(none)";
}

TEST(Rendezvous, OneMachineWithoutPort_FindsOneForEachAttempt) {
  for (const bool zero_given : {false, true}) {
    RequestBuilder builder = a_request().in_total(2);
    if (zero_given) builder.port(0);
    const Plan plan = builder.planned();
    EXPECT_EQ(plan.master_address, "127.0.0.1");
    ASSERT_EQ(plan.ports.size(), 1U);
    EXPECT_EQ(plan.ports[0].name, "master");
    EXPECT_EQ(plan.ports[0].port, 0);
    EXPECT_EQ(planned_value(plan, "MASTER_PORT"), "${port.master}");
  }
}

TEST(Rendezvous, GivenPort_IsLiteral) {
  const Plan plan = a_request().in_total(2).port(1234).planned();
  ASSERT_EQ(plan.ports.size(), 1U);
  EXPECT_EQ(plan.ports[0].port, 1234);
  EXPECT_EQ(planned_value(plan, "MASTER_PORT"), "1234");
}

TEST(Rendezvous, SeveralMachines_MeetAtTheDefaultPortThatTheFirstProvides) {
  const Plan first = a_request().in_total(2).machines(2, 0).planned();
  const Plan second = a_request().in_total(2).machines(2, 1).planned();
  EXPECT_EQ(planned_value(first, "MASTER_PORT"), "29500");
  EXPECT_EQ(planned_value(second, "MASTER_PORT"), "29500");
  EXPECT_EQ(first.ports.size(), 1U);
  EXPECT_TRUE(second.ports.empty());
  EXPECT_EQ(second.master_address, "10.0.0.1");
}

TEST(Rendezvous, WrongPortOrAddress_IsRefused) {
  EXPECT_NE(a_request().in_total(2).machines(2, 0).port(0).refused().find("need a fixed port"), std::string::npos);
  EXPECT_NE(a_request().in_total(2).machines(2, 0, "").refused().find("--main-process-ip is needed"),
            std::string::npos);
  EXPECT_NE(a_request().in_total(2).port(70000).refused().find("expected 0 to 65535"), std::string::npos);
  EXPECT_NE(a_request().in_total(2).port(-1).refused().find("expected 0 to 65535"), std::string::npos);
  EXPECT_NE(
      a_request().in_total(2).machines(2, 0).port(65535).framework(Framework::jax).refused().find("at most 65534"),
      std::string::npos);
}

TEST(ResolveEnvironment, Placeholders_AreReplacedForTheAttempt) {
  Plan plan;
  plan.ports = {{"master", 0}, {"side", 7000}};
  plan.environment = {{"B", "${attempt}:${run_dir}:${port.master}:${port.side}"}, {"A", "common"}};
  plan.replicas.resize(1);
  plan.replicas[0].environment = {{"A", "own"}};
  AttemptValues values;
  values.attempt = Attempt{2};
  values.run_directory = "/r";
  values.ports = {4567};
  EXPECT_EQ(resolve_environment(plan, plan.replicas[0], values),
            (std::vector<EnvironmentVariable>{{"A", "own"}, {"B", "2:/r:4567:7000"}}));
}

TEST(Placeholders, Text_IsReplacedOnceAndUnknownNamesStay) {
  const PlaceholderLookup lookup = [](std::string_view name) -> std::optional<std::string> {
    if (name == "a") return "${b}";
    if (name == "b") return "B";
    return std::nullopt;
  };
  const std::map<std::string, std::string> cases = {{"", ""},
                                                    {"plain", "plain"},
                                                    {"${a}", "${b}"},
                                                    {"${b}${b}", "BB"},
                                                    {"${c}${b}", "${c}B"},
                                                    {"${c ${b}", "${c B"},
                                                    {"$b ${b", "$b ${b"},
                                                    {"$${b}", "$B"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(replace_placeholders(text, lookup), expected) << text;
}

}  // namespace
}  // namespace forklift
