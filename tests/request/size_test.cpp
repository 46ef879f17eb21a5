// How many, where, and in whose words.
#include <gtest/gtest.h>

#include "tests/request/request_builders.hpp"

namespace forklift {
namespace {

std::string processes_of(const LaunchRequest& request) {
  struct Name {
    std::string operator()(ProcessesUnset) const { return "unset"; }
    std::string operator()(ProcessesInTotal total) const { return "total " + std::to_string(total.count); }
    std::string operator()(ProcessesPerNode node) const { return "per node " + std::to_string(node.count); }
    std::string operator()(ProcessesPerNodeCounted counted) const {
      switch (counted.by) {
        case CountedBy::automatic:
          return "per node auto";
        case CountedBy::cpu:
          return "per node cpu";
        case CountedBy::gpu:
          return "per node gpu";
      }
      return {};
    }
  };
  return std::visit(Name{}, request.processes);
}

TEST(Size, EachWayToCount_IsKept) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"x", "unset"},
      {"--cpu --num-processes 4 x", "total 4"},
      {"--num-machines 1 x", "unset"},
      {"--nproc-per-node 4 x", "per node 4"},
      {"--nproc_per_node auto x", "per node auto"},
      {"--nproc-per-node cpu x", "per node cpu"},
      {"--nproc-per-node gpu x", "per node gpu"},
      {"--nproc-per-node xpu x", "per node gpu"},
      {"--standalone x", "per node 1"},
      {"--nnodes 1 x", "per node 1"},
      {"--standalone --num-processes 3 x", "total 3"},
      {"--num-processes 4 --nproc-per-node 4 x", "per node 4"},
  };
  for (const auto& [line, expected] : rows) EXPECT_EQ(processes_of(parsed(line)), expected) << line;
}

TEST(Dialect, TorchrunsOwnSizeWord_MakesItTorchruns) {
  for (const char* head : {"--nproc-per-node 1", "--nnodes 1", "--node-rank 0", "--standalone", "--master-addr h",
                           "--master-port 1", "--rdzv-endpoint h:1", "--rdzv-id j", "--num-processes 2 --standalone"})
    EXPECT_EQ(parsed(std::string(head) + " x").dialect, Dialect::torchrun) << head;
  for (const char* head : {"", "--num-processes 2", "--rdzv-backend c10d", "--tee 3", "--redirects 3", "--role r",
                           "--max-restarts 1", "--main-process-port 0"})
    EXPECT_EQ(parsed(std::string(head) + " x").dialect, Dialect::accelerate) << head;
}

TEST(Dialect, VariablesOfTorchrun_CountWhereTheCommandLineShowsNothing) {
  const Environment environment{{"PET_NPROC_PER_NODE", "2"}};
  EXPECT_EQ(parsed("x", environment).dialect, Dialect::torchrun);
  EXPECT_EQ(parsed("--num-machines 1 x", environment).dialect, Dialect::accelerate);
}

TEST(Address, EachWayToGiveIt_IsTheMainProcess) {
  struct Row {
    std::string line;
    std::string ip;
    std::optional<int> port;
  };
  const std::vector<Row> rows{
      {"x", "", std::nullopt},
      {"--main-process-ip h --main-process-port 1 x", "h", 1},
      {"--main-process-port 0 x", "", 0},
      {"--master-addr h --master-port 1 x", "h", 1},
      {"--master-addr [::1] x", "::1", std::nullopt},
      {"--standalone x", "", 0},
      {"--standalone --master-port 1 x", "", 0},
      {"--rdzv-backend c10d --rdzv-endpoint localhost:0 x", "localhost", 0},
      {"--rdzv-backend c10d --rdzv-endpoint localhost x", "localhost", std::nullopt},
      {"--rdzv-endpoint h:7 x", "h", 7},
      {"--rdzv-backend etcd --rdzv-endpoint e:2379 x", "", std::nullopt},
      {"--nnodes 2 --node-rank 1 --rdzv-backend c10d --rdzv-endpoint h:7 x", "h", 7},
      {"--nnodes 2:2 --node-rank 1 --rdzv-backend=c10d --rdzv_endpoint h x", "h", 29400},
      {"--nnodes 2 --node-rank 1 --rdzv-endpoint h x", "h", std::nullopt},
      {"--num-machines 2 --machine-rank 1 --main-process-ip h --rdzv_backend c10d x", "h", std::nullopt},
      {"--nnodes 2 --node-rank 0 --rdzv-backend etcd-v2 --rdzv-endpoint e:1 --master-addr h x", "h", std::nullopt},
      {"--master-addr a --rdzv-endpoint h:7 x", "h", 7},
  };
  for (const auto& [line, ip, port] : rows) {
    const LaunchRequest request = parsed(line);
    EXPECT_EQ(request.main_process_ip, ip) << line;
    EXPECT_EQ(request.main_process_port, port) << line;
  }
}

TEST(Address, OverruledAddress_IsNamedInAWarning) {
  EXPECT_TRUE(
      contains(joined_warnings(parsed("--master-addr a --rdzv-endpoint h:7 x")), "--rdzv-endpoint h:7 is used"));
  EXPECT_TRUE(contains(joined_warnings(parsed("--standalone --master-port 1 x")), "--master-port has no effect"));
  EXPECT_TRUE(contains(joined_warnings(parsed("--rdzv-backend etcd --rdzv-endpoint e:1 x")), "etcd is not asked"));
  EXPECT_TRUE(parsed("--master-addr h --master-port 7 --rdzv-endpoint h:7 x").warnings.empty());
}

TEST(Machines, SeveralWithRankAndAddress_AreAccepted) {
  const LaunchRequest request =
      parsed("--num-machines 4 --machine-rank 3 --main-process-ip 10.0.0.1 --num-processes 32 x");
  EXPECT_EQ(request.num_machines, 4);
  EXPECT_EQ(request.machine_rank, NodeRank{3});
  EXPECT_EQ(parsed("--nnodes 2 --node_rank 0 --master_addr h --nproc-per-node 8 x").machine_rank, NodeRank{0});
}

TEST(Machines, SeveralWithoutWhatTheyNeed_AreRefused) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"--num-machines 2 --main-process-ip h x",
       "--num-machines 2 needs the rank of this machine: give --machine-rank"},
      {"--nnodes 2 --master-addr h x", "--nnodes 2 needs the rank of this machine"},
      {"--num-machines 2 --machine-rank 0 x", "needs the address of the machine with rank 0: give --main-process-ip"},
      {"--num-machines 2 --machine-rank 0 --main-process-ip h --main-process-port 0 x",
       "one port that all machines know"},
      {"--nnodes 2 --rdzv-backend c10d --rdzv-endpoint h:1 x", "give each machine its own with --node-rank"},
      {"--nnodes 2 --rdzv-backend etcd --rdzv-endpoint h:1 x", "give each machine its own with --node-rank"},
      {"--num-machines 2 --rdzv_backend c10d --main-process-ip h x", "--node-rank (or --machine-rank)"},
      {"--nnodes 2 --node-rank 0 --rdzv-backend etcd --rdzv-endpoint e:1 x", "needs the address of the machine"},
      {"--nnodes 2 --standalone x", "--standalone means one machine, but --nnodes 2 was given"},
      {"--num-machines 2 --machine-rank 0 --main-process-ip h --max-restarts 1 x",
       "--max-restarts: got 1, expected 0 with 2 machines"},
      {"--num-machines 2 --machine-rank 0 --main-process-ip h --num-processes 3 x",
       "expected a multiple of the 2 machines"},
      {"--num-machines 2 --machine-rank 0 --main-process-ip h --num-processes 1 x",
       "expected a multiple of the 2 machines"},
      {"--nnodes 100000 --node-rank 0 --master-addr h --nproc-per-node 1000000 x", "expected at most 1000000"},
  };
  for (const auto& [line, part] : rows) {
    const std::string message = refused(line);
    EXPECT_TRUE(contains(message, part)) << line << "\n  " << message;
  }
}

TEST(Contradiction, EachPair_IsRefusedWithBothNames) {
  struct Row {
    std::string head;
    std::string one;
    std::string other;
  };
  const std::vector<Row> rows{
      {"--num-processes 4 --nproc-per-node 2", "--num-processes '4'", "--nproc-per-node '2'"},
      {"--num-processes 4 --nproc-per-node auto", "--num-processes", "--nproc-per-node"},
      {"--num-machines 2 --nnodes 3", "--num-machines '2'", "--nnodes '3'"},
      {"--nnodes 4 --machine-rank 0 --node-rank 1", "--machine-rank", "--node-rank"},
      {"--main-process-ip a --master-addr b", "--main-process-ip", "--master-addr"},
      {"--main-process-port 1 --master-port 2", "--main-process-port", "--master-port"},
      {"--cpu-binding core --numa-binding node", "--cpu-binding", "--numa-binding"},
      {"--cpu --multi-gpu", "--cpu", "--multi-gpu"},
      {"--cpu --nproc-per-node gpu", "--cpu", "--nproc-per-node gpu"},
      {"--multi-gpu --num-processes 1", "--num-processes", "--multi-gpu"},
      {"-m --no-python", "--module", "--no-python"},
      {"-m --run-path", "--module", "--run-path"},
      {"--num-processes 2 --interactive-rank 2", "--interactive-rank", "2 replicas"},
      {"--host-facts f", "--host-facts", "--dry-run"},
  };
  for (const auto& [head, one, other] : rows) {
    const std::string message = refused(head + " train.py");
    EXPECT_TRUE(contains(message, one) && contains(message, other)) << head << "\n  " << message;
  }
  EXPECT_TRUE(contains(refused("--run-path ./a.out"), "expected a Python script"));
}

TEST(Contradiction, TwinsThatSayTheSame_AreAccepted) {
  const LaunchRequest request = parsed(
      "--num-machines 2 --nnodes 2:2 --machine-rank 1 --node-rank 1 --main-process-ip h --master-addr h "
      "--main-process-port 5 --master-port 5 --num-processes 8 --nproc-per-node 4 x");
  EXPECT_EQ(request.num_machines, 2);
  EXPECT_EQ(processes_of(request), "per node 4");
  EXPECT_TRUE(request.warnings.empty());
}

}  // namespace
}  // namespace forklift
