#include <gtest/gtest.h>

#include "launcher/plan/text_layout.hpp"
#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

std::vector<std::string> masks(const Plan& plan) {
  std::vector<std::string> texts;
  for (const ReplicaPlan& replica : plan.replicas) texts.push_back(ranges(replica.cpus));
  return texts;
}

struct MaskCase {
  const char* name;
  HostFacts host;
  CpuBinding binding;
  int replicas;
  std::vector<std::string> masks;
};

HostFacts out_of_order() {
  HostFacts host;
  host.cores = {{{2}, 1}, {{0}, 0}, {{3}, 1}, {{1}, 0}};
  return host;
}

TEST(Placement, Masks) {
  const std::vector<MaskCase> cases = {
      {"none", a_host(4), CpuBinding::none, 2, {"", ""}},
      {"even shares", a_host(8), CpuBinding::core, 4, {"0-1", "2-3", "4-5", "6-7"}},
      {"uneven shares", a_host(4), CpuBinding::core, 3, {"0", "1", "2-3"}},
      {"one replica", a_host(4), CpuBinding::core, 1, {"0-3"}},
      {"siblings together", a_host(4, 1, 2), CpuBinding::core, 2, {"0-1,4-5", "2-3,6-7"}},
      {"more replicas than cores", a_host(2, 1, 2), CpuBinding::core, 3, {"0,2", "1,3", "0,2"}},
      {"cores in NUMA order", out_of_order(), CpuBinding::core, 2, {"0-1", "2-3"}},
      {"numa in turn", a_host(8, 2), CpuBinding::numa, 3, {"0-3", "4-7", "0-3"}},
      {"numa with siblings", a_host(4, 2, 2), CpuBinding::numa, 2, {"0-1,4-5", "2-3,6-7"}},
      {"numa on one node", a_host(4), CpuBinding::numa, 2, {"0-3", "0-3"}}};
  for (const MaskCase& row : cases) {
    const Plan plan = a_request().in_total(row.replicas).on(row.host).binding(row.binding).planned();
    EXPECT_EQ(masks(plan), row.masks) << row.name;
  }
}

TEST(Placement, NumaWithKnownAccelerators_FollowsTheReplicasDevice) {
  RequestBuilder builder =
      a_request().on(a_host(8, 2)).accelerators("cuda", 4, {1, 1, 0, -1}).binding(CpuBinding::numa);
  EXPECT_EQ(masks(builder.planned()), (std::vector<std::string>{"4-7", "4-7", "0-3", "4-7"}));
  builder.request.gpu_ids = "2,0";
  EXPECT_EQ(masks(builder.planned()), (std::vector<std::string>{"0-3", "4-7"}));
}

TEST(Placement, MoreReplicasThanCores_IsAWarning) {
  EXPECT_TRUE(
      warns_of(a_request().in_total(3).on(a_host(2)).binding(CpuBinding::core).planned(), "3 replicas on 2 cores"));
  EXPECT_FALSE(warns_of(a_request().in_total(2).on(a_host(2)).binding(CpuBinding::core).planned(), "share a core"));
}

TEST(Placement, Quota_LimitsThreadsAndNotMasks) {
  RequestBuilder builder = a_request().in_total(2).on(a_host(8)).binding(CpuBinding::core);
  builder.host.cpu_quota = 4.0;
  EXPECT_EQ(masks(builder.planned()), (std::vector<std::string>{"0-3", "4-7"}));
  EXPECT_EQ(value_in(builder.planned(), "OMP_NUM_THREADS"), "2");
}

TEST(Placement, UnevenShares_GiveEachReplicaItsOwnThreadCount) {
  const Plan plan = a_request().in_total(3).on(a_host(4)).binding(CpuBinding::core).planned();
  EXPECT_EQ(value_in(plan, "OMP_NUM_THREADS", 0), "1");
  EXPECT_EQ(value_in(plan, "OMP_NUM_THREADS", 2), "2");
}

TEST(Placement, BindingWithoutKnownCores_IsRefused) {
  EXPECT_NE(
      a_request().in_total(2).on(a_host(0)).binding(CpuBinding::core).refused().find("cores of testhost are not known"),
      std::string::npos);
}

}  // namespace
}  // namespace forklift
