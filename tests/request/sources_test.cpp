// Where values come from: command line over environment over defaults; and what is said of flags that do nothing.
#include <gtest/gtest.h>

#include "launcher/request/flag_table.hpp"
#include "tests/request/request_builders.hpp"

namespace forklift {
namespace {

TEST(Environment, TorchrunsVariables_AreDefaultsOfItsFlags) {
  const LaunchRequest request = parsed("x", {{"PET_NNODES", "2"},
                                             {"PET_NODE_RANK", "1"},
                                             {"PET_NPROC_PER_NODE", "4"},
                                             {"PET_MASTER_ADDR", "h"},
                                             {"PET_MASTER_PORT", "5"},
                                             {"PET_REDIRECTS", "0:3"},
                                             {"PET_LOG_DIR", "/logs"},
                                             {"PET_MODULE", "1"},
                                             {"PET_NO_PYTHON", "0"},
                                             {"PET_TEE", ""},
                                             {"PET_UNKNOWN", "7"}});
  EXPECT_EQ(request.num_machines, 2);
  EXPECT_EQ(request.machine_rank, NodeRank{1});
  EXPECT_EQ(std::get<ProcessesPerNode>(request.processes).count, 4);
  EXPECT_EQ(request.main_process_ip, "h");
  EXPECT_EQ(request.main_process_port, 5);
  EXPECT_EQ(request.redirects.of({0}), Streams::both);
  EXPECT_EQ(request.log_dir, "/logs");
  EXPECT_EQ(request.run_as, RunAs::module);
  EXPECT_EQ(request.tee.of({0}), Streams::none);
}

TEST(Environment, OtherVariables_AreDefaultsToo) {
  const LaunchRequest request = parsed("x", {{"PYTHON_EXEC", "/py"},
                                             {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE", "${rank}|"},
                                             {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "7"}});
  EXPECT_EQ(request.python, "/py");
  EXPECT_EQ(request.prefix_template, "${rank}|");
  EXPECT_EQ(request.stop.shutdown_timeout, std::chrono::seconds(7));
  EXPECT_EQ(parsed("x", {{"PET_SHUTDOWN_TIMEOUT", "1"}, {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "7"}}).stop.shutdown_timeout,
            std::chrono::seconds(1));
}

TEST(Environment, CommandLine_Wins) {
  const LaunchRequest request = parsed("--nproc-per-node 3 x", {{"PET_NPROC_PER_NODE", "4"}});
  EXPECT_EQ(std::get<ProcessesPerNode>(request.processes).count, 3);
  EXPECT_EQ(request.origins.at("num-processes"), "command line: --nproc-per-node 3");
  EXPECT_TRUE(request.warnings.empty());
}

TEST(Environment, OtherPeersWordOnTheCommandLine_WinsAndSaysSo) {
  const LaunchRequest request = parsed("--num-processes 3 x", {{"PET_NPROC_PER_NODE", "4"}});
  EXPECT_EQ(std::get<ProcessesInTotal>(request.processes).count, 3);
  EXPECT_EQ(joined_warnings(request), "PET_NPROC_PER_NODE='4' in the environment is overridden by --num-processes\n");
}

TEST(Environment, BadVariable_IsNamed) {
  EXPECT_TRUE(contains(refused("x", {{"PET_NPROC_PER_NODE", "zero"}}), "PET_NPROC_PER_NODE: got 'zero', expected"));
  EXPECT_TRUE(contains(refused("x", {{"PET_STANDALONE", "maybe"}}), "PET_STANDALONE: got 'maybe', expected 0 or 1"));
  EXPECT_TRUE(contains(
      refused("x", {{"PET_MAX_RESTARTS", "1"}, {"PET_NNODES", "2"}, {"PET_NODE_RANK", "0"}, {"PET_MASTER_ADDR", "h"}}),
      "PET_MAX_RESTARTS: got 1"));
}

TEST(Origins, EveryHonouredOption_HasOne) {
  const LaunchRequest request = parsed("x");
  for (const Flag& flag : flag_table()) {
    if (flag.status != FlagStatus::honoured || flag.name == "help") continue;
    const std::string option(flag.option_name());
    ASSERT_TRUE(request.origins.contains(option)) << option;
    EXPECT_EQ(request.origins.at(option), "default") << option;
  }
}

TEST(Origins, GivenOptions_NameTheirPlace) {
  const LaunchRequest request = parsed("--num_processes=4 --cpu -t3 --rdzv-endpoint h:5 x", {{"PET_ROLE", "r"}});
  EXPECT_EQ(request.origins.at("num-processes"), "command line: --num-processes 4");
  EXPECT_EQ(request.origins.at("cpu"), "command line: --cpu");
  EXPECT_EQ(request.origins.at("tee"), "command line: --tee 3");
  EXPECT_EQ(request.origins.at("role"), "environment: PET_ROLE=r");
  EXPECT_EQ(request.origins.at("main-process-ip"), "command line: --rdzv-endpoint h:5");
  EXPECT_EQ(request.origins.at("main-process-port"), "command line: --rdzv-endpoint h:5");
  EXPECT_EQ(parsed("--standalone x").origins.at("main-process-port"), "command line: --standalone");
  EXPECT_EQ(parsed("--standalone x").origins.at("num-processes"), "default of torchrun: --nproc-per-node 1");
}

TEST(FlagStatus, EveryRow_IsHonouredOrWarnedOfOrRefused) {
  for (const Flag& flag : flag_table()) {
    const std::string name = "--" + std::string(flag.name);
    const std::string line = name + (flag.takes_value() ? " k3y-v4lue" : "") + " train.py";
    switch (flag.status) {
      case FlagStatus::honoured:
        break;
      case FlagStatus::inert:
      case FlagStatus::dependent: {
        const LaunchRequest request = parsed(line + " --unrelated");
        ASSERT_EQ(request.warnings.size(), 1U) << name;
        EXPECT_TRUE(request.warnings[0].starts_with(name + " has no effect: ")) << request.warnings[0];
        break;
      }
      case FlagStatus::refused: {
        const std::string message = refused(line);
        EXPECT_TRUE(message.starts_with(name + ": ")) << message;
        EXPECT_TRUE(contains(message, "is not supported in this version")) << message;
        EXPECT_FALSE(contains(message, "k3y-v4lue")) << message;
        break;
      }
    }
  }
}

TEST(FlagStatus, InertFlagGivenTwice_IsNamedOnce) {
  EXPECT_EQ(parsed("--monitor-interval 1 --monitor_interval=2 x").warnings.size(), 1U);
}

TEST(FlagStatus, OptionsWithoutEffect_AreNamed) {
  for (const char* head : {"--checkpoint-signal USR1", "--restart-window 60", "--restart-on exit_code", "--format json",
                           "--cpu --gpu-ids 0", "--start-method fork", "--start-method=forkserver"})
    EXPECT_TRUE(contains(joined_warnings(parsed(std::string(head) + " x")), "has no effect")) << head;
}

}  // namespace
}  // namespace forklift
