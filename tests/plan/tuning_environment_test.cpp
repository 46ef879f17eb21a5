// Variables that yield to what the user exported, and those of accelerate.
#include <gtest/gtest.h>

#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

struct YieldCase {
  const char* variable;
  const char* suggested;
};

class TuningVariable : public testing::TestWithParam<YieldCase> {};

TEST_P(TuningVariable, NotExported_IsSuggested) {
  const Plan plan = a_request().in_total(2).binding(CpuBinding::core).planned();
  EXPECT_EQ(value_in(plan, GetParam().variable), GetParam().suggested);
}

TEST_P(TuningVariable, Exported_StaysAndTheOriginSaysSo) {
  for (const std::string exported : {"mine", ""}) {  // exported empty is a choice as well
    const Plan plan =
        a_request().in_total(2).binding(CpuBinding::core).exported(GetParam().variable, exported).planned();
    EXPECT_EQ(value_in(plan, GetParam().variable), "(inherited)");
    EXPECT_EQ(plan.origins.at(GetParam().variable),
              std::string("environment: ") + GetParam().variable + "=" + exported);
    EXPECT_TRUE(plan.warnings.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, TuningVariable,
    testing::Values(YieldCase{"OMP_NUM_THREADS", "2"}, YieldCase{"GLOO_SOCKET_IFNAME", "lo"},
                    YieldCase{"PYTHONUNBUFFERED", "1"}, YieldCase{"PYTHONFAULTHANDLER", "1"},
                    YieldCase{"KMP_AFFINITY", "granularity=fine,compact,1,0"}, YieldCase{"KMP_BLOCKTIME", "1"},
                    YieldCase{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"}, YieldCase{"ACCELERATE_USE_CPU", "true"},
                    YieldCase{"ACCELERATE_MIXED_PRECISION", "no"}, YieldCase{"ACCELERATE_DYNAMO_BACKEND", "NO"},
                    YieldCase{"ACCELERATE_DYNAMO_MODE", "default"},
                    YieldCase{"ACCELERATE_DYNAMO_USE_FULLGRAPH", "False"},
                    YieldCase{"ACCELERATE_DYNAMO_USE_DYNAMIC", "False"},
                    YieldCase{"ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION", "False"}),
    [](const auto& row) { return std::string(row.param.variable); });

TEST(TuningEnvironment, ExplicitOption_WinsOverExported) {
  RequestBuilder builder = a_request()
                               .in_total(2)
                               .exported("OMP_NUM_THREADS", "9")
                               .exported("ACCELERATE_MIXED_PRECISION", "fp16")
                               .exported("ACCELERATE_DYNAMO_BACKEND", "EAGER")
                               .exported("ACCELERATE_DYNAMO_MODE", "max-autotune")
                               .exported("ACCELERATE_USE_CPU", "false")
                               .cpu_only();
  builder.request.num_cpu_threads = 3;
  builder.request.mixed_precision = MixedPrecision::bf16;
  builder.request.dynamo.backend = "INDUCTOR";
  builder.request.origins["dynamo-mode"] = "command line: --dynamo-mode default";
  const Plan plan = builder.planned();
  EXPECT_EQ(value_in(plan, "OMP_NUM_THREADS"), "3");
  EXPECT_EQ(value_in(plan, "ACCELERATE_MIXED_PRECISION"), "bf16");
  EXPECT_EQ(value_in(plan, "ACCELERATE_DYNAMO_BACKEND"), "INDUCTOR");
  EXPECT_EQ(value_in(plan, "ACCELERATE_DYNAMO_MODE"), "default");
  EXPECT_EQ(value_in(plan, "ACCELERATE_USE_CPU"), "true");
}

struct ThreadCase {
  int cores;
  int threads_per_core;
  std::optional<double> quota;
  int replicas;
  CpuBinding binding;
  const char* expected;
};

TEST(TuningEnvironment, Threads_AreUsableCpusByReplicas) {
  const std::vector<ThreadCase> cases = {{8, 1, {}, 2, CpuBinding::none, "4"},    {8, 1, {}, 3, CpuBinding::none, "2"},
                                         {2, 1, {}, 8, CpuBinding::none, "1"},    {8, 1, 4.5, 2, CpuBinding::none, "2"},
                                         {8, 1, 0.5, 2, CpuBinding::none, "1"},   {4, 2, {}, 2, CpuBinding::none, "4"},
                                         {8, 1, 100.0, 2, CpuBinding::none, "4"}, {0, 1, {}, 2, CpuBinding::none, "1"},
                                         {8, 2, {}, 4, CpuBinding::core, "4"},    {8, 1, 4.0, 4, CpuBinding::core, "1"},
                                         {2, 2, {}, 4, CpuBinding::core, "1"},    {8, 1, {}, 4, CpuBinding::numa, "2"}};
  for (const ThreadCase& row : cases) {
    RequestBuilder builder = a_request().in_total(row.replicas).on(a_host(row.cores, 1, row.threads_per_core));
    builder.host.cpu_quota = row.quota;
    EXPECT_EQ(value_in(builder.binding(row.binding).planned(), "OMP_NUM_THREADS"), row.expected)
        << row.cores << " cores, " << row.replicas << " replicas";
  }
}

TEST(TuningEnvironment, KmpAffinity_OnlyWithAMaskOfItsOwn) {
  EXPECT_EQ(value_in(a_request().in_total(2).planned(), "KMP_AFFINITY"), "(inherited)");
  EXPECT_EQ(value_in(a_request().in_total(8).binding(CpuBinding::core).planned(), "KMP_AFFINITY"), "(inherited)");
  EXPECT_EQ(value_in(a_request().in_total(4).binding(CpuBinding::numa).planned(), "KMP_AFFINITY"), "(inherited)");
  EXPECT_EQ(value_in(a_request().in_total(2).on(a_host(4, 2)).binding(CpuBinding::numa).planned(), "KMP_AFFINITY"),
            "granularity=fine,compact,1,0");
}

TEST(TuningEnvironment, GlooInterface_OnlyWhereAllReplicasAreLocal) {
  EXPECT_EQ(value_in(a_request().in_total(2).machines(2, 0).planned(), "GLOO_SOCKET_IFNAME"), "(inherited)");
  EXPECT_EQ(value_in(a_request().in_total(2).machines(1, 0, "10.0.0.1").planned(), "GLOO_SOCKET_IFNAME"),
            "(inherited)");
  EXPECT_EQ(value_in(a_request().in_total(2).machines(1, 0, "localhost").planned(), "GLOO_SOCKET_IFNAME"), "lo");
}

TEST(TuningEnvironment, NativeProgramOfNoFramework_GetsNothingOfPythonOrTorch) {
  RequestBuilder builder = a_request().in_total(2).framework(Framework::none);
  builder.request.program = "./solver";
  for (const auto& [name, value] : environment_of(builder.planned())) {
    EXPECT_FALSE(name.starts_with("PYTHON") || name.starts_with("ACCELERATE") || name.starts_with("TORCH") ||
                 name.starts_with("KMP") || name.starts_with("ROLE"))
        << name;
  }
}

TEST(AccelerateEnvironment, DebugAndAffinityOptions_AreSetOnlyWhenAsked) {
  const Plan plain = a_request().in_total(2).planned();
  EXPECT_EQ(value_in(plain, "ACCELERATE_DEBUG_MODE"), "(inherited)");
  EXPECT_EQ(value_in(plain, "ACCELERATE_CPU_AFFINITY"), "(inherited)");
  EXPECT_EQ(value_in(plain, "ACCELERATE_DOWNCAST_BF16"), "(inherited)");
  RequestBuilder builder = a_request().in_total(2);
  builder.request.accelerate_debug = AccelerateDebug::on;
  builder.request.affinity_hint = AffinityHint::on;
  const Plan plan = builder.planned();
  EXPECT_EQ(value_in(plan, "ACCELERATE_DEBUG_MODE"), "true");
  EXPECT_EQ(value_in(plan, "ACCELERATE_CPU_AFFINITY"), "1");
}

TEST(AccelerateEnvironment, MixedPrecision_HasAcceleratesNames) {
  const std::map<MixedPrecision, const char*> names = {{MixedPrecision::unset, "no"},
                                                       {MixedPrecision::no, "no"},
                                                       {MixedPrecision::fp16, "fp16"},
                                                       {MixedPrecision::bf16, "bf16"},
                                                       {MixedPrecision::fp8, "fp8"}};
  for (const auto& [precision, name] : names) {
    RequestBuilder builder = a_request().in_total(2);
    builder.request.mixed_precision = precision;
    EXPECT_EQ(value_in(builder.planned(), "ACCELERATE_MIXED_PRECISION"), name);
  }
}

struct ProxyCase {
  const char* name;
  Environment exported;
  const char* lower;
  const char* upper;
};

TEST(ProxyEnvironment, NoProxy_IsExtendedByTheRendezvousHosts) {
  const std::vector<ProxyCase> cases = {
      {"no proxy", {}, "(inherited)", "(inherited)"},
      {"empty proxy", {{"http_proxy", ""}}, "(inherited)", "(inherited)"},
      {"none excepted", {{"http_proxy", "p:1"}}, "127.0.0.1,localhost", "127.0.0.1,localhost"},
      {"some excepted",
       {{"HTTPS_PROXY", "p:1"}, {"no_proxy", ".corp, 127.0.0.1"}},
       ".corp, 127.0.0.1,localhost",
       ".corp, 127.0.0.1,localhost"},
      {"all excepted",
       {{"ALL_PROXY", "p:1"}, {"no_proxy", "*"}, {"NO_PROXY", "localhost,127.0.0.1"}},
       "(inherited)",
       "(inherited)"},
      {"each its own",
       {{"ALL_PROXY", "p:1"}, {"no_proxy", "a"}, {"NO_PROXY", "b"}},
       "a,127.0.0.1,localhost",
       "b,127.0.0.1,localhost"}};
  for (const ProxyCase& row : cases) {
    RequestBuilder builder = a_request().in_total(2);
    builder.environment = row.exported;
    EXPECT_EQ(value_in(builder.planned(), "no_proxy"), row.lower) << row.name;
    EXPECT_EQ(value_in(builder.planned(), "NO_PROXY"), row.upper) << row.name;
  }
}

TEST(ProxyEnvironment, OnSeveralMachines_TheMastersHostIsExcepted) {
  const Plan plan = a_request().in_total(2).machines(2, 1, "head.cluster").exported("http_proxy", "p:1").planned();
  EXPECT_EQ(value_in(plan, "no_proxy"), "head.cluster");
}

}  // namespace
}  // namespace forklift
