// What a replica really sees: variables, CPUs, descriptors. And that the dry run had said so.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <map>
#include <thread>

#include "tests/end_to_end/job_test.hpp"
#include "tests/support/child_command.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

using support::child;
using support::Command;
using support::Ended;
using support::Json;
using support::lines_of;
using support::Words;
using support::operator+;

class ReplicaSees : public support::JobTest {
 protected:
  /// The lines of each replica, without the prefix.
  static std::map<std::string, Words> by_rank(const std::string& out) {
    std::map<std::string, Words> all;
    for (const std::string& line : lines_of(out)) {
      const auto end = line.find("] ");
      if (end != std::string::npos) all[line.substr(1, end - 1)].push_back(line.substr(end + 2));
    }
    return all;
  }

  [[nodiscard]] Json dry_run(const Words& words) const {
    const Ended ended = support::run(launch(Words{"--dry-run", "--format", "json"} + words));
    EXPECT_EQ(ended.exit_code, 0) << ended;
    return Json::parse(ended.out, nullptr, false);
  }
};

TEST_F(ReplicaSees, FourReplicas_TheTableOfVariables) {
  const Words names{"RANK",       "LOCAL_RANK",       "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK",
                    "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK",  "ROLE_WORLD_SIZE",  "ROLE_NAME"};
  const Ended ended = support::run(launch(Words{"--cpu", "--num-processes", "4"} + child("print-env", names)));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  const auto seen = by_rank(ended.out);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen.at("2"),
            (Words{"RANK=2", "LOCAL_RANK=2", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=4", "NODE_RANK=0", "GROUP_RANK=0",
                   "GROUP_WORLD_SIZE=1", "ROLE_RANK=2", "ROLE_WORLD_SIZE=4", "ROLE_NAME=default"}));
}

TEST_F(ReplicaSees, FourReplicas_TheVariablesOfTheirLauncher) {
  const Words names{"MASTER_ADDR",
                    "TORCHELASTIC_RUN_ID",
                    "TORCHELASTIC_RESTART_COUNT",
                    "TORCHELASTIC_MAX_RESTARTS",
                    "TORCHELASTIC_USE_AGENT_STORE",
                    "TORCHELASTIC_ERROR_FILE",
                    "ACCELERATE_USE_CPU",
                    "ACCELERATE_MIXED_PRECISION",
                    "ACCELERATE_DYNAMO_BACKEND",
                    "GLOO_SOCKET_IFNAME",
                    "PYTHONFAULTHANDLER",
                    "TF_CONFIG",
                    "JAX_COORDINATOR_ADDRESS",
                    "OMPI_COMM_WORLD_RANK"};
  const Ended ended = support::run(launch(Words{"--cpu", "--num-processes", "4"} + child("print-env", names)));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(by_rank(ended.out).at("3"),
            (Words{"MASTER_ADDR=127.0.0.1", "TORCHELASTIC_RUN_ID=none", "TORCHELASTIC_RESTART_COUNT=0",
                   "TORCHELASTIC_MAX_RESTARTS=0", "TORCHELASTIC_USE_AGENT_STORE=False",
                   "TORCHELASTIC_ERROR_FILE=" + (run_directory() / "errors/0-3.json").string(),
                   "ACCELERATE_USE_CPU=true", "ACCELERATE_MIXED_PRECISION=no", "ACCELERATE_DYNAMO_BACKEND=NO",
                   "GLOO_SOCKET_IFNAME=lo", "PYTHONFAULTHANDLER=1", "TF_CONFIG is not set",
                   "JAX_COORDINATOR_ADDRESS is not set", "OMPI_COMM_WORLD_RANK is not set"}));
}

TEST_F(ReplicaSees, LeftoversOfAnOuterJob_AreReplaced) {
  Command command = launch(Words{"--num-processes", "2"} + child("print-env", {"RANK", "WORLD_SIZE", "LOCAL_RANK"}));
  command.environment.insert({{"RANK", "7"}, {"WORLD_SIZE", "64"}, {"LOCAL_RANK", "3"}});
  const Ended ended = support::run(command);
  EXPECT_EQ(by_rank(ended.out).at("1"), (Words{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1"}));
  EXPECT_NE(ended.err.find("RANK"), std::string::npos) << "the leftovers are to be named: " << ended.err;
}

TEST_F(ReplicaSees, OneProcessInAcceleratesWords_NoIdentity) {
  const Words names{"RANK", "WORLD_SIZE", "MASTER_ADDR", "TORCHELASTIC_RUN_ID"};
  const Ended ended = support::run(launch(Words{"--num-processes", "1"} + child("print-env", names)));
  EXPECT_EQ(lines_of(ended.out), (Words{"RANK is not set", "WORLD_SIZE is not set", "MASTER_ADDR is not set",
                                        "TORCHELASTIC_RUN_ID is not set"}));
}

TEST_F(ReplicaSees, OneProcessInTorchrunsWords_Identity) {
  const Ended ended = support::run(launch(Words{"--nproc-per-node", "1"} + child("print-env", {"RANK", "WORLD_SIZE"})));
  EXPECT_EQ(lines_of(ended.out), (Words{"RANK=0", "WORLD_SIZE=1"}));
}

TEST_F(ReplicaSees, FrameworkJax_ItsFiveVariablesTogether) {
  const Words names{"OMPI_MCA_orte_hnp_uri",      "OMPI_COMM_WORLD_SIZE",    "OMPI_COMM_WORLD_RANK",
                    "OMPI_COMM_WORLD_LOCAL_RANK", "JAX_COORDINATOR_ADDRESS", "MASTER_PORT"};
  const Ended ended =
      support::run(launch(Words{"--framework", "jax", "--num-processes", "2"} + child("print-env", names)));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  const Words seen = by_rank(ended.out).at("1");
  ASSERT_EQ(seen.size(), names.size());
  EXPECT_TRUE(seen[0].starts_with("OMPI_MCA_orte_hnp_uri="));
  EXPECT_EQ(Words(seen.begin() + 1, seen.begin() + 4),
            (Words{"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_LOCAL_RANK=1"}));
  EXPECT_TRUE(seen[4].starts_with("JAX_COORDINATOR_ADDRESS=127.0.0.1:"));
  EXPECT_NE(seen[4].substr(seen[4].find(':')), ":" + seen[5].substr(seen[5].find('=') + 1)) << "a port of its own";
}

TEST_F(ReplicaSees, FrameworkTensorflow_TheClusterAndItsPlace) {
  const Ended ended = support::run(
      launch(Words{"--framework", "tensorflow", "--num-processes", "2"} + child("print-env", {"TF_CONFIG"})));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  const auto seen = by_rank(ended.out);
  const auto config = [&](const std::string& rank) {
    return Json::parse(seen.at(rank).front().substr(std::string("TF_CONFIG=").size()), nullptr, false);
  };
  EXPECT_EQ(config("1")["task"], (Json{{"type", "worker"}, {"index", 1}}));
  EXPECT_EQ(config("0")["cluster"], config("1")["cluster"]);
  const Json workers = config("0")["cluster"]["worker"];
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_NE(workers[0], workers[1]);
}

TEST_F(ReplicaSees, EnvOption_WinsOverEverything) {
  Command command =
      launch(Words{"--num-processes", "2", "--env", "GREETING=hello world", "--env", "OMP_NUM_THREADS=7"} +
             child("print-env", {"GREETING", "OMP_NUM_THREADS"}));
  command.environment["GREETING"] = "nothing";
  EXPECT_EQ(by_rank(support::run(command).out).at("1"), (Words{"GREETING=hello world", "OMP_NUM_THREADS=7"}));
}

TEST_F(ReplicaSees, ThreadsExportedByTheUser_AreKept) {
  Command command = launch(Words{"--num-processes", "2"} + child("print-env", {"OMP_NUM_THREADS"}));
  command.environment["OMP_NUM_THREADS"] = "5";
  EXPECT_EQ(by_rank(support::run(command).out).at("0"), (Words{"OMP_NUM_THREADS=5"}));
}

// A replica's share of the CPUs that this process may use, unless a cgroup's quota allows less.
TEST_F(ReplicaSees, ThreadsLeftOpen_AreItsShareOfTheCpus) {
  const Ended ended = support::run(launch(Words{"--num-processes", "64"} + child("print-env", {"OMP_NUM_THREADS"})));
  const unsigned share = std::max(1U, std::thread::hardware_concurrency() / 64U);
  const std::string threads = by_rank(ended.out).at("63").front().substr(std::string("OMP_NUM_THREADS=").size());
  EXPECT_GE(std::stoul(threads), 1U);
  EXPECT_LE(std::stoul(threads), share);
}

// ---- CPUs ---------------------------------------------------------------------------------------------------------

class BoundReplica : public ReplicaSees, public ::testing::WithParamInterface<const char*> {};

TEST_P(BoundReplica, Started_RunsWhereTheDryRunSaid) {
  const Words job = Words{"--num-processes", "2", "--cpu-binding", GetParam()} + child("print-affinity");
  const Json plan = dry_run(job);
  const Ended ended = support::run(launch(job));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  const auto seen = by_rank(ended.out);
  for (const Json& replica : plan["replicas"]) {
    std::string cpus;
    for (const Json& cpu : replica["cpus"]) cpus += (cpus.empty() ? "" : ",") + cpu.dump();
    if (cpus.empty()) cpus = lines_of(support::run(Command{.argv = child("print-affinity")}).out).front();
    EXPECT_EQ(seen.at(replica["rank"].dump()), Words{cpus});
  }
}

INSTANTIATE_TEST_SUITE_P(Bindings, BoundReplica, ::testing::Values("none", "core", "numa"),
                         [](const auto& binding) { return std::string(binding.param); });

// ---- descriptors --------------------------------------------------------------------------------------------------

TEST_F(ReplicaSees, LauncherInheritedMore_ReplicaHasExactlyThree) {
  const Command command = prepared_by("exec 7</dev/null 9>/dev/null 33</dev/zero",
                                      launch(Words{"--num-processes", "2"} + child("print-fds")));
  const Ended ended = support::run(command);
  ASSERT_EQ(ended.exit_code, 0) << ended;
  for (const auto& [rank, descriptors] : by_rank(ended.out)) {
    ASSERT_EQ(descriptors.size(), 3U) << ended.out;
    EXPECT_EQ(descriptors[0], "0 /dev/null");
    EXPECT_TRUE(descriptors[1].starts_with("1 pipe:"));
    EXPECT_TRUE(descriptors[2].starts_with("2 pipe:"));
  }
}

TEST_F(ReplicaSees, LauncherHasNoStandardInput_ReplicaHasExactlyThree) {
  Command command = launch(Words{"--num-processes", "2"} + child("print-fds"));
  command.input = support::Input::closed;
  const Ended ended = support::run(command);
  ASSERT_EQ(ended.exit_code, 0) << ended;
  for (const auto& [rank, descriptors] : by_rank(ended.out)) {
    ASSERT_EQ(descriptors.size(), 3U) << ended.out;
    EXPECT_EQ(descriptors[0], "0 /dev/null");
  }
}

// ---- the plan -----------------------------------------------------------------------------------------------------

// Values that only a run can have (ports, the run directory) are left out; everything else is as planned.
TEST_F(ReplicaSees, DryRunAsJson_IsWhatRuns) {
  const Words options{"--cpu", "--num-processes", "2", "--max-restarts", "1"};
  const Json planned = dry_run(options + Words{"/usr/bin/env"})["replicas"][1];
  const Ended ended = support::run(launch(options + Words{"/usr/bin/env"}));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  const Words seen = by_rank(ended.out).at("1");

  EXPECT_EQ(planned["argv"], (Words{"/usr/bin/env"}));
  for (const auto& [name, value] : planned["env"].items()) {
    const bool known_when_it_runs = name == "MASTER_PORT" || name == "TORCHELASTIC_ERROR_FILE" ||
                                    name == "TORCHELASTIC_RESTART_COUNT" || name.starts_with("FORKLIFT_");
    if (known_when_it_runs) continue;
    EXPECT_NE(std::find(seen.begin(), seen.end(), name + "=" + value.get<std::string>()), seen.end()) << name;
  }
}

// ---- two machines, both here --------------------------------------------------------------------------------------

std::string free_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), generic, length) != 0 || ::getsockname(socket.get(), generic, &length) != 0) return "0";
  return std::to_string(::ntohs(address.sin_port));
}

TEST_F(ReplicaSees, TwoStaticMachines_AreOneWorld) {
  const std::filesystem::path hello = std::filesystem::path(FORKLIFT_BINARY).parent_path() / "examples/hello_replicas";
  if (!std::filesystem::exists(hello)) GTEST_SKIP() << hello << " was not built";
  const std::string port = free_port();
  const auto machine = [&](const char* rank) {
    return launch({"--num-machines", "2", "--machine-rank", rank, "--num-processes", "4", "--main-process-ip",
                   "127.0.0.1", "--main-process-port", port, hello});
  };
  support::RunningProcess first(machine("0"));
  support::RunningProcess second(machine("1"));
  const Ended from_first = first.wait();
  const Ended from_second = second.wait();
  EXPECT_EQ(from_first.exit_code, 0) << from_first;
  EXPECT_EQ(from_second.exit_code, 0) << from_second;
  EXPECT_NE(from_first.out.find("sum over 4 replicas = 14"), std::string::npos) << from_first;
  EXPECT_EQ(support::sorted_lines(from_second.out),
            (Words{"[2] replica 2 of 4 contributes 4", "[3] replica 3 of 4 contributes 9"}));
}

}  // namespace
}  // namespace forklift
