#include <gtest/gtest.h>

#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

TEST(Ranks, SecondOfTwoNodes_HasTheUpperHalf) {
  const Plan plan = a_request().in_total(6).machines(2, 1).planned();
  EXPECT_EQ(plan.world_size, 6);
  ASSERT_EQ(plan.replicas.size(), 3U);
  for (int local = 0; local < 3; ++local) {
    const ReplicaPlan& replica = plan.replicas[static_cast<std::size_t>(local)];
    EXPECT_EQ(replica.rank, Rank{3 + local});
    EXPECT_EQ(replica.local_rank, LocalRank{local});
    EXPECT_EQ(replica.node_rank, NodeRank{1});
  }
}

TEST(Ranks, PerNodeOnThreeMachines_WorldIsTheProduct) {
  EXPECT_EQ(a_request().per_node(4).machines(3, 0).planned().world_size, 12);
}

struct CountCase {
  const char* name;
  RequestBuilder request;
  int world_size;
  const char* origin;  ///< Part of origins["num-processes"] or, for a counted number, of origins["nproc-per-node"].
};

class ProcessCountRule : public testing::TestWithParam<CountCase> {};

TEST_P(ProcessCountRule, GivesTheCountAndSaysWhy) {
  const Plan plan = GetParam().request.planned();
  EXPECT_EQ(plan.world_size, GetParam().world_size);
  const bool counted = plan.origins.count("nproc-per-node") != 0;
  EXPECT_NE(plan.origins.at(counted ? "nproc-per-node" : "num-processes").find(GetParam().origin), std::string::npos)
      << plan.origins.at(counted ? "nproc-per-node" : "num-processes");
}

HostFacts with_quota(double quota) {
  HostFacts host = a_host(8);
  host.cpu_quota = quota;
  return host;
}

INSTANTIATE_TEST_SUITE_P(
    All, ProcessCountRule,
    testing::Values(
        CountCase{"UnsetWithoutAccelerator", a_request(), 1, "no accelerator found and --num-processes not given"},
        CountCase{"UnsetWithAccelerators", a_request().accelerators("cuda", 3), 3, "3 cuda accelerators"},
        CountCase{"UnsetWithCpuOnly", a_request().accelerators("cuda", 3).cpu_only(), 1, "--cpu"},
        CountCase{"UnsetOnTpuHost", a_request().accelerators("tpu", 4), 1, "4 TPU chips"},
        CountCase{"UnsetWithVisibleSubset", a_request().accelerators("cuda", 4).exported("CUDA_VISIBLE_DEVICES", "2,0"),
                  2, "CUDA_VISIBLE_DEVICES=2,0"},
        CountCase{"UnsetWithHiddenDevices", a_request().accelerators("cuda", 4).exported("CUDA_VISIBLE_DEVICES", ""), 1,
                  "no accelerator found"},
        CountCase{"UnsetWithInvalidDevice",
                  a_request().accelerators("cuda", 4).exported("CUDA_VISIBLE_DEVICES", "1,-1,2"), 1,
                  "1 cuda accelerator"},
        CountCase{"UnsetOnTwoMachines", a_request().accelerators("cuda", 2).machines(2, 0), 4, "2 cuda accelerators"},
        CountCase{"AutoWithoutAccelerator", a_request().counted_by(CountedBy::automatic), 4, "4 usable CPUs"},
        CountCase{"AutoWithAccelerators", a_request().counted_by(CountedBy::automatic).accelerators("rocm", 2), 2,
                  "2 rocm"},
        CountCase{"CpuWithQuota", a_request().counted_by(CountedBy::cpu).on(with_quota(2.9)), 2, "2 usable CPUs"},
        CountCase{"CpuWithQuotaUnderOne", a_request().counted_by(CountedBy::cpu).on(with_quota(0.5)), 1,
                  "1 usable CPU"},
        CountCase{"GpuWithAccelerators", a_request().counted_by(CountedBy::gpu).accelerators("cuda", 2), 2, "2 cuda"}),
    [](const auto& row) { return row.param.name; });

TEST(ProcessCount, UnsetWithoutAccelerator_IsAlsoAWarning) {
  EXPECT_TRUE(warns_of(a_request().planned(), "1 process: no accelerator found and --num-processes not given"));
  EXPECT_FALSE(warns_of(a_request().in_total(1).planned(), "no accelerator"));
}

TEST(ProcessCount, ChosenGpuIds_AreCounted) {
  RequestBuilder builder = a_request().accelerators("cuda", 4);
  builder.request.gpu_ids = "1,3";
  EXPECT_EQ(builder.planned().world_size, 2);
}

struct RefusalCase {
  const char* name;
  RequestBuilder request;
  const char* message;
};

class ShapeRefusal : public testing::TestWithParam<RefusalCase> {};

TEST_P(ShapeRefusal, NamesWhatWasSeenAndExpected) {
  const auto plan = GetParam().request.plan();
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::usage);
  EXPECT_NE(plan.error().message.find(GetParam().message), std::string::npos) << plan.error().message;
}

RequestBuilder without_rank(int machines) {
  RequestBuilder builder = a_request().in_total(machines).machines(machines, 0);
  builder.request.machine_rank.reset();
  return builder;
}

RequestBuilder restarting(int machines) {
  RequestBuilder builder = a_request().in_total(machines).machines(machines, 0);
  builder.request.restart.max_restarts = 2;
  return builder;
}

INSTANTIATE_TEST_SUITE_P(
    All, ShapeRefusal,
    testing::Values(RefusalCase{"UnevenTotal", a_request().in_total(10).machines(4, 0), "8 or 12 would fit"},
                    RefusalCase{"FewerThanMachines", a_request().in_total(3).machines(4, 0), ": 4 would fit"},
                    RefusalCase{"Zero", a_request().in_total(0), "expected at least 1"},
                    RefusalCase{"NegativePerNode", a_request().per_node(-1), "expected at least 1"},
                    RefusalCase{"TooManyHere", a_request().in_total(65'537), "at most 65536"},
                    RefusalCase{"TooLargeAWorld", a_request().per_node(60'000).machines(100'000, 0), "at most 1000000"},
                    RefusalCase{"NoMachines", a_request().in_total(1).machines(0, 0), "--num-machines 0"},
                    RefusalCase{"MissingMachineRank", without_rank(2), "--machine-rank is needed with 2 machines"},
                    RefusalCase{"MachineRankTooLarge", a_request().in_total(2).machines(2, 2), "0 to 1"},
                    RefusalCase{"MachineRankOnOneMachine", a_request().in_total(2).machines(1, 1), "it is 0"},
                    RefusalCase{"GpuWithoutAccelerator", a_request().counted_by(CountedBy::gpu),
                                "no accelerator was found"},
                    RefusalCase{"RestartsOnTwoMachines", restarting(2), "--max-restarts 2"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace forklift
