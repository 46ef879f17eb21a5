// JAX, TensorFlow, and what accelerators a replica sees.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

TEST(JaxEnvironment, OneMachine_HasTheFiveVariablesOnAPortOfTheirOwn) {
  const Plan plan = a_request().in_total(4).framework(Framework::jax).planned();
  ASSERT_EQ(plan.ports.size(), 2U);
  EXPECT_EQ(plan.ports[1].name, "coordinator");
  EXPECT_EQ(plan.ports[1].port, 0);
  const std::map<std::string, std::string> expected = {{"JAX_COORDINATOR_ADDRESS", "127.0.0.1:40001"},
                                                       {"OMPI_MCA_orte_hnp_uri", "forklift"},
                                                       {"OMPI_COMM_WORLD_SIZE", "4"},
                                                       {"OMPI_COMM_WORLD_RANK", "2"},
                                                       {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                                                       {"JAX_COORDINATOR_BIND_ADDRESS", "127.0.0.1:40001"},
                                                       {"KERAS_DISTRIBUTION_JOB_ADDRESSES", "127.0.0.1:40001"},
                                                       {"KERAS_DISTRIBUTION_NUM_PROCESSES", "4"},
                                                       {"KERAS_DISTRIBUTION_PROCESS_ID", "2"},
                                                       {"MASTER_PORT", "40000"},
                                                       {"RANK", "2"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(value_in(plan, name, 2), value) << name;
  for (const char* name : {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "JOB_COMPLETION_INDEX"}) {
    EXPECT_EQ(value_in(plan, name), "(unset)") << name;
  }
}

TEST(JaxEnvironment, TwoMachines_AgreeOnThePortAboveTheMasters) {
  const Plan first = a_request().in_total(4).machines(2, 0).port(5000).framework(Framework::jax).planned();
  const Plan second = a_request().in_total(4).machines(2, 1).port(5000).framework(Framework::jax).planned();
  for (const Plan* plan : {&first, &second}) {
    EXPECT_EQ(value_in(*plan, "JAX_COORDINATOR_ADDRESS"), "10.0.0.1:5001");
    EXPECT_EQ(value_in(*plan, "JAX_COORDINATOR_BIND_ADDRESS"), "(unset)");
  }
  EXPECT_EQ(value_in(second, "OMPI_COMM_WORLD_RANK", 1), "3");
  EXPECT_EQ(value_in(second, "OMPI_COMM_WORLD_LOCAL_RANK", 1), "1");
  ASSERT_EQ(first.ports.size(), 2U);
  EXPECT_EQ(first.ports[1].port, 5001);
}

TEST(JaxEnvironment, WorldOfOne_StillFindsItsCoordinator) {
  const Plan plan = a_request().in_total(1).framework(Framework::jax).planned();
  EXPECT_EQ(value_in(plan, "OMPI_COMM_WORLD_SIZE"), "1");
  EXPECT_EQ(value_in(plan, "JAX_COORDINATOR_ADDRESS"), "127.0.0.1:40000");
  EXPECT_EQ(value_in(plan, "RANK"), "(unset)");
}

TEST(JaxEnvironment, Ipv6Address_IsBracketed) {
  const Plan plan = a_request().in_total(2).machines(2, 0, "fd00::1").framework(Framework::jax).planned();
  EXPECT_EQ(value_in(plan, "JAX_COORDINATOR_ADDRESS"), "[fd00::1]:29501");
  EXPECT_EQ(value_in(plan, "MASTER_ADDR"), "fd00::1");
}

TEST(FrameworkEnvironment, VariablesOfAFramework_OnlyOnRequest) {
  for (const Framework framework : {Framework::automatic, Framework::torch, Framework::none}) {
    for (const auto& [name, value] : environment_of(a_request().in_total(2).framework(framework).planned())) {
      EXPECT_FALSE(name.starts_with("JAX_") || name.starts_with("OMPI_") || name.starts_with("KERAS_") ||
                   name == "TF_CONFIG")
          << name;
    }
  }
}

TEST(TensorflowEnvironment, TfConfig_ListsEveryWorkerAndTheReplicasPlace) {
  const Plan plan = a_request().in_total(2).framework(Framework::tensorflow).planned();
  ASSERT_EQ(plan.ports.size(), 3U);
  EXPECT_EQ(plan.ports[1].name, "worker0");
  EXPECT_EQ(plan.ports[2].name, "worker1");
  EXPECT_EQ(value_in(plan, "TF_CONFIG", 1),
            R"({"cluster":{"worker":["127.0.0.1:40001","127.0.0.1:40002"]},"task":{"type":"worker","index":1}})");
  EXPECT_EQ(nlohmann::json::parse(value_in(plan, "TF_CONFIG", 0))["task"]["index"], 0);
}

TEST(TensorflowEnvironment, Gpus_AreOneForEachReplica) {
  const Plan plan = a_request().in_total(2).accelerators("cuda", 2).framework(Framework::tensorflow).planned();
  EXPECT_EQ(value_in(plan, "CUDA_VISIBLE_DEVICES", 0), "0");
  EXPECT_EQ(value_in(plan, "CUDA_VISIBLE_DEVICES", 1), "1");
  EXPECT_EQ(value_in(plan, "LOCAL_RANK", 1), "1");
  const Plan crowded = a_request().in_total(3).accelerators("cuda", 2).framework(Framework::tensorflow).planned();
  EXPECT_EQ(value_in(crowded, "CUDA_VISIBLE_DEVICES", 2), "0");
  EXPECT_TRUE(warns_of(crowded, "several replicas share a device"));
}

TEST(TensorflowEnvironment, SeveralMachines_AreRefusedWithTheWayOut) {
  const std::string message = a_request().in_total(2).machines(2, 0).framework(Framework::tensorflow).refused();
  EXPECT_NE(message.find("--framework none"), std::string::npos) << message;
}

TEST(DeviceEnvironment, CpuOption_HidesAcceleratorsFromEveryFramework) {
  const Plan plan =
      a_request().in_total(2).cpu_only().accelerators("cuda", 2).exported("CUDA_VISIBLE_DEVICES", "0").planned();
  EXPECT_EQ(value_in(plan, "ACCELERATE_USE_CPU"), "true");
  EXPECT_EQ(value_in(plan, "USE_TORCH_XLA"), "0");
  EXPECT_EQ(value_in(plan, "JAX_PLATFORMS"), "cpu");
  EXPECT_EQ(value_in(plan, "CUDA_VISIBLE_DEVICES"), "");
}

TEST(DeviceEnvironment, WithoutCpuOption_OnlyAHostWithoutAcceleratorUsesTheCpu) {
  const Plan host_without = a_request().in_total(2).planned();
  EXPECT_EQ(value_in(host_without, "ACCELERATE_USE_CPU"), "true");
  EXPECT_EQ(value_in(host_without, "JAX_PLATFORMS"), "(inherited)");
  EXPECT_EQ(value_in(host_without, "CUDA_VISIBLE_DEVICES"), "(inherited)");
  for (const char* kind : {"cuda", "tpu", "xpu"}) {
    EXPECT_EQ(value_in(a_request().in_total(2).accelerators(kind, 2).planned(), "ACCELERATE_USE_CPU"), "(inherited)");
  }
}

TEST(DeviceEnvironment, TorchReplicas_SeeTheWholeList) {
  const Plan plan = a_request().in_total(2).accelerators("cuda", 2).planned();
  EXPECT_EQ(value_in(plan, "CUDA_VISIBLE_DEVICES"), "(inherited)");
}

TEST(DeviceEnvironment, GpuIds_AreSetInTheVendorsVariable) {
  const std::map<std::string, std::string> variables = {{"cuda", "CUDA_VISIBLE_DEVICES"},
                                                        {"rocm", "CUDA_VISIBLE_DEVICES"},
                                                        {"xpu", "ZE_AFFINITY_MASK"},
                                                        {"npu", "ASCEND_RT_VISIBLE_DEVICES"},
                                                        {"hpu", "HABANA_VISIBLE_MODULES"}};
  for (const auto& [kind, variable] : variables) {
    RequestBuilder builder = a_request().accelerators(kind, 4).exported(variable, "0");
    builder.request.gpu_ids = "1, 3";
    const Plan plan = builder.planned();
    EXPECT_EQ(value_in(plan, variable), "1,3") << kind;
    EXPECT_EQ(plan.world_size, 2) << kind;
  }
}

TEST(DeviceEnvironment, GpuIdsThatAreNone_AreRefused) {
  const std::map<std::string, std::string> cases = {{"7", "there is no device 7"},
                                                    {"0,,1", "'' is no device number"},
                                                    {"-1", "'-1' is no device number"},
                                                    {"two", "'two' is no device number"},
                                                    {"1,1", "named twice"}};
  for (const auto& [ids, words] : cases) {
    RequestBuilder builder = a_request().accelerators("cuda", 2);
    builder.request.gpu_ids = ids;
    EXPECT_NE(builder.refused().find(words), std::string::npos) << builder.refused();
  }
}

TEST(DeviceEnvironment, GpusWhereNoneIs_AreRefused) {
  RequestBuilder named = a_request();
  named.request.gpu_ids = "0,1";
  EXPECT_NE(named.refused().find("--gpu-ids 0,1: no GPU was found on testhost"), std::string::npos) << named.refused();

  RequestBuilder wanted = a_request().in_total(2);
  wanted.request.device = DeviceChoice::gpu;
  EXPECT_NE(wanted.refused().find("--multi-gpu: no GPU was found on testhost"), std::string::npos) << wanted.refused();
  wanted.accelerators("cuda", 2);
  EXPECT_EQ(wanted.planned().world_size, 2);
  wanted.environment["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_NE(wanted.refused().find("no GPU may be used (environment: CUDA_VISIBLE_DEVICES=) on testhost"),
            std::string::npos)
      << wanted.refused();
}

TEST(DeviceEnvironment, VirtualLocalRank_IsZeroWithOneDeviceEach) {
  RequestBuilder builder = a_request().in_total(2).accelerators("cuda", 4);
  builder.request.gpu_ids = "2,3";
  builder.request.device_visibility = DeviceVisibility::virtual_local_rank;
  const Plan plan = builder.planned();
  for (std::size_t local = 0; local < 2; ++local) {
    EXPECT_EQ(value_in(plan, "LOCAL_RANK", local), "0");
    EXPECT_EQ(value_in(plan, "CUDA_VISIBLE_DEVICES", local), std::to_string(2 + local));
    EXPECT_EQ(value_in(plan, "RANK", local), std::to_string(local));
  }
}

TEST(DeviceEnvironment, VirtualLocalRankWithTooFewDevices_IsRefused) {
  RequestBuilder builder = a_request().in_total(3).accelerators("cuda", 1);
  builder.request.device_visibility = DeviceVisibility::virtual_local_rank;
  EXPECT_NE(builder.refused().find("only 1 cuda accelerator for 3 replicas"), std::string::npos) << builder.refused();
}

TEST(DeviceEnvironment, VirtualLocalRankWithoutDevices_KeepsLocalRanks) {
  RequestBuilder builder = a_request().in_total(2);
  builder.request.device_visibility = DeviceVisibility::virtual_local_rank;
  const Plan plan = builder.planned();
  EXPECT_EQ(value_in(plan, "LOCAL_RANK", 1), "1");
  EXPECT_TRUE(warns_of(plan, "--virtual-local-rank has no effect"));
}

}  // namespace
}  // namespace forklift
