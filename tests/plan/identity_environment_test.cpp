#include <gtest/gtest.h>

#include <algorithm>

#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

const std::vector<std::string> identity_names = {"RANK",
                                                 "LOCAL_RANK",
                                                 "WORLD_SIZE",
                                                 "LOCAL_WORLD_SIZE",
                                                 "NODE_RANK",
                                                 "GROUP_RANK",
                                                 "MASTER_ADDR",
                                                 "MASTER_PORT",
                                                 "GROUP_WORLD_SIZE",
                                                 "TORCHELASTIC_RESTART_COUNT",
                                                 "ROLE_RANK",
                                                 "ROLE_NAME",
                                                 "ROLE_WORLD_SIZE",
                                                 "TORCHELASTIC_RUN_ID",
                                                 "TORCHELASTIC_MAX_RESTARTS",
                                                 "TORCHELASTIC_ERROR_FILE",
                                                 "TORCHELASTIC_USE_AGENT_STORE"};

TEST(IdentityEnvironment, TwoOfFourOnSecondNode_IsWhatTorchrunSets) {
  RequestBuilder builder = a_request().in_total(4).machines(2, 1);
  builder.request.role = "trainer";
  builder.request.rdzv_id = "job7";
  const auto environment = environment_of(builder.planned(), 1);
  const std::map<std::string, std::string> expected = {{"RANK", "3"},
                                                       {"LOCAL_RANK", "1"},
                                                       {"WORLD_SIZE", "4"},
                                                       {"LOCAL_WORLD_SIZE", "2"},
                                                       {"NODE_RANK", "1"},
                                                       {"GROUP_RANK", "1"},
                                                       {"GROUP_WORLD_SIZE", "2"},
                                                       {"ROLE_RANK", "3"},
                                                       {"ROLE_WORLD_SIZE", "4"},
                                                       {"ROLE_NAME", "trainer"},
                                                       {"MASTER_ADDR", "10.0.0.1"},
                                                       {"MASTER_PORT", "29500"},
                                                       {"TORCHELASTIC_RUN_ID", "job7"},
                                                       {"TORCHELASTIC_RESTART_COUNT", "0"},
                                                       {"TORCHELASTIC_MAX_RESTARTS", "0"},
                                                       {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                                                       {"TORCHELASTIC_ERROR_FILE", "/run/job/errors/0-3.json"},
                                                       {"FORKLIFT_RUN_ID", "20260101-120000-abcdef"},
                                                       {"FORKLIFT_RUN_DIR", "/run/job"},
                                                       {"FORKLIFT_ATTEMPT", "0"}};
  for (const auto& [name, value] : expected) {
    ASSERT_EQ(environment.count(name), 1U) << name;
    EXPECT_EQ(environment.at(name), value) << name;
  }
}

TEST(IdentityEnvironment, WorldOfOneInAccelerateDialect_HasNoneAndRemovesLeftovers) {
  const Plan plan = a_request().in_total(1).exported("RANK", "3").planned();
  for (const std::string& name : identity_names) EXPECT_EQ(value_in(plan, name), "(unset)") << name;
  EXPECT_TRUE(plan.ports.empty());
  EXPECT_EQ(plan.master_address, "");
  EXPECT_TRUE(warns_of(plan, ": RANK"));
  EXPECT_EQ(value_in(plan, "GLOO_SOCKET_IFNAME"), "(inherited)");
}

TEST(IdentityEnvironment, WorldOfOneInTorchrunDialect_HasAll) {
  const Plan plan = a_request().per_node(1).dialect(Dialect::torchrun).planned();
  for (const std::string& name : identity_names) EXPECT_EQ(environment_of(plan).count(name), 1U) << name;
  EXPECT_EQ(value_in(plan, "WORLD_SIZE"), "1");
}

TEST(IdentityEnvironment, FrameworkNoneWithOneReplica_KeepsRanksWithoutTorch) {
  const Plan plan = a_request().in_total(1).framework(Framework::none).planned();
  EXPECT_EQ(value_in(plan, "RANK"), "0");
  EXPECT_EQ(value_in(plan, "MASTER_ADDR"), "127.0.0.1");
  EXPECT_EQ(value_in(plan, "TORCHELASTIC_RUN_ID"), "(unset)");
}

TEST(IdentityEnvironment, Leftovers_AreReplacedAndNamedInOneLine) {
  const Plan plan = a_request()
                        .in_total(2)
                        .exported("RANK", "5")
                        .exported("WORLD_SIZE", "2")  // the same as ours: nothing to say
                        .exported("MASTER_ADDR", "kubeflow-master")
                        .exported("HOME", "/root")
                        .planned();
  EXPECT_EQ(value_in(plan, "RANK", 0), "0");
  EXPECT_EQ(value_in(plan, "RANK", 1), "1");
  EXPECT_EQ(value_in(plan, "MASTER_ADDR"), "127.0.0.1");
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(plan.warnings.front(), "left over from an outer launcher and not passed on: MASTER_ADDR, RANK");
}

TEST(IdentityEnvironment, CommonVariables_AreHeldOnce) {
  const Plan plan = a_request().in_total(3).planned();
  std::vector<std::string> own;
  for (const EnvironmentVariable& variable : plan.replicas.front().environment) own.push_back(variable.name);
  EXPECT_EQ(own, (std::vector<std::string>{"LOCAL_RANK", "RANK", "ROLE_RANK", "TORCHELASTIC_ERROR_FILE"}));
  EXPECT_TRUE(std::is_sorted(plan.environment.begin(), plan.environment.end(),
                             [](const auto& left, const auto& right) { return left.name < right.name; }));
}

TEST(IdentityEnvironment, SignalsToHandle_AreLeftToInheritance) {
  const Plan plan = a_request().in_total(2).exported("TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM").planned();
  EXPECT_EQ(value_in(plan, "TORCHELASTIC_SIGNALS_TO_HANDLE"), "(inherited)");
}

TEST(UserEnvironment, EnvOption_WinsOverIdentityTuningAndUnset) {
  const Plan plan = a_request()
                        .in_total(1)
                        .env("RANK", "9")
                        .env("OMP_NUM_THREADS", "7")
                        .env("DATA", "/d")
                        .env("DATA", "/e")
                        .planned();
  EXPECT_EQ(value_in(plan, "RANK"), "9");
  EXPECT_EQ(value_in(plan, "OMP_NUM_THREADS"), "7");
  EXPECT_EQ(value_in(plan, "DATA"), "/e");
}

TEST(UserEnvironment, EnvOptionForARank_WarnsThatReplicasBecomeEqual) {
  const Plan plan = a_request().in_total(2).env("RANK", "9").planned();
  EXPECT_EQ(value_in(plan, "RANK", 0), "9");
  EXPECT_EQ(value_in(plan, "RANK", 1), "9");
  EXPECT_TRUE(warns_of(plan, "--env RANK=9 gives every replica the same value"));
}

TEST(Origins, EveryVariableThatIsSet_HasOne) {
  for (const Framework framework :
       {Framework::automatic, Framework::torch, Framework::jax, Framework::tensorflow, Framework::none}) {
    RequestBuilder builder = a_request()
                                 .in_total(2)
                                 .framework(framework)
                                 .binding(CpuBinding::core)
                                 .accelerators("cuda", 2)
                                 .exported("http_proxy", "proxy:1")
                                 .env("A", "b");
    builder.request.accelerate_debug = AccelerateDebug::on;
    builder.request.affinity_hint = AffinityHint::on;
    const Plan plan = builder.planned();
    for (const auto& [name, value] : environment_of(plan)) {
      ASSERT_EQ(plan.origins.count(name), 1U) << name;
      EXPECT_FALSE(plan.origins.at(name).empty()) << name;
    }
  }
}

TEST(Origins, OfTheRequest_AreKeptAndUsed) {
  RequestBuilder builder = a_request().in_total(2).port(1234);
  builder.request.origins = {{"main-process-port", "configuration file: job.yaml"}, {"num-processes", "command line"}};
  const Plan plan = builder.planned();
  EXPECT_EQ(plan.origins.at("MASTER_PORT"), "configuration file: job.yaml");
  EXPECT_EQ(plan.origins.at("num-processes"), "command line");
}

}  // namespace
}  // namespace forklift
