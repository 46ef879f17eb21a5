// What each option does to the request.
#include "launcher/request/parse_launch.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include "tests/request/request_builders.hpp"

namespace forklift {
namespace {

using namespace std::chrono_literals;

TEST(ParseLaunch, ProgramAlone_LeavesEveryDefault) {
  const LaunchRequest request = parsed("train.py --lr 1");
  EXPECT_EQ(request.program, "train.py");
  EXPECT_EQ(request.arguments, (std::vector<std::string>{"--lr", "1"}));
  EXPECT_EQ(request.command, (std::vector<std::string>{"forklift", "launch", "train.py", "--lr", "1"}));
  EXPECT_EQ(request.dialect, Dialect::accelerate);
  EXPECT_TRUE(std::holds_alternative<ProcessesUnset>(request.processes));
  EXPECT_EQ(request.num_machines, 1);
  EXPECT_FALSE(request.machine_rank);
  EXPECT_FALSE(request.main_process_port);
  EXPECT_EQ(request.stop.shutdown_timeout, 30s);
  EXPECT_FALSE(request.prefix_template);
  EXPECT_TRUE(request.warnings.empty());
}

TEST(ParseLaunch, NoProgram_IsAUsageError) {
  for (const char* line : {"", "--", "--cpu", "--num-processes 2"})
    EXPECT_TRUE(contains(refused(line), "no program given")) << line;
}

TEST(ParseLaunch, EachOption_SetsItsField) {
  struct Row {
    std::string head;
    std::function<bool(const LaunchRequest&)> holds;
  };
  using R = const LaunchRequest&;
  const std::vector<Row> rows{
      {"-m", [](R r) { return r.run_as == RunAs::module; }},
      {"--no_python", [](R r) { return r.run_as == RunAs::direct; }},
      {"--run-path", [](R r) { return r.run_as == RunAs::automatic; }},
      {"--run-path --no-python", [](R r) { return r.run_as == RunAs::automatic; }},
      {"--python /p", [](R r) { return r.python == "/p"; }},
      {"--expand-arguments", [](R r) { return r.expand_arguments == ArgumentExpansion::expand; }},
      {"--cpu", [](R r) { return r.device == DeviceChoice::cpu; }},
      {"--multi-gpu", [](R r) { return r.device == DeviceChoice::gpu; }},
      {"--gpu-ids 0,2", [](R r) { return r.gpu_ids == "0,2"; }},
      {"--gpu_ids all", [](R r) { return r.gpu_ids == "all"; }},
      {"--virtual-local-rank", [](R r) { return r.device_visibility == DeviceVisibility::virtual_local_rank; }},
      {"--num_cpu_threads_per_process 3", [](R r) { return r.num_cpu_threads == 3; }},
      {"--cpu-binding core", [](R r) { return r.cpu_binding == CpuBinding::core; }},
      {"--cpu-binding numa", [](R r) { return r.cpu_binding == CpuBinding::numa; }},
      {"--numa-binding node", [](R r) { return r.cpu_binding == CpuBinding::numa && r.warnings.empty(); }},
      {"--numa-binding exclusive", [](R r) { return r.cpu_binding == CpuBinding::core && r.warnings.empty(); }},
      {"--numa-binding socket", [](R r) { return r.cpu_binding == CpuBinding::numa && r.warnings.size() == 1; }},
      {"--numa-binding core-complex", [](R r) { return r.cpu_binding == CpuBinding::numa && r.warnings.size() == 1; }},
      {"--enable-cpu-affinity", [](R r) { return r.affinity_hint == AffinityHint::on; }},
      {"--framework jax", [](R r) { return r.framework == Framework::jax; }},
      {"--mixed-precision bf16", [](R r) { return r.mixed_precision == MixedPrecision::bf16; }},
      {"--debug", [](R r) { return r.accelerate_debug == AccelerateDebug::on; }},
      {"--dynamo-backend inductor", [](R r) { return r.dynamo.backend == "INDUCTOR"; }},
      {"--dynamo-mode max-autotune", [](R r) { return r.dynamo.mode == "max-autotune"; }},
      {"--dynamo-use-fullgraph", [](R r) { return r.dynamo.use_fullgraph == "True"; }},
      {"--dynamo-use-dynamic", [](R r) { return r.dynamo.use_dynamic == "True"; }},
      {"--dynamo-use-regional-compilation", [](R r) { return r.dynamo.use_regional_compilation == "True"; }},
      {"--role trainer", [](R r) { return r.role == "trainer"; }},
      {"--rdzv-id job7", [](R r) { return r.rdzv_id == "job7"; }},
      {"--log-dir /logs", [](R r) { return r.log_dir == "/logs"; }},
      {"-r 3", [](R r) { return r.redirects.of({5}) == Streams::both; }},
      {"--tee 0:3,12:2",
       [](R r) { return r.tee.of({12}) == Streams::standard_error && r.tee.of({1}) == Streams::none; }},
      {"--local-ranks-filter 0,3",
       [](R r) {
         return r.console_ranks == std::vector<LocalRank>{{0}, {3}};
       }},
      {"--log-line-prefix-template [${rank}]:", [](R r) { return r.prefix_template == "[${rank}]:"; }},
      {"--log-line-prefix-template=", [](R r) { return r.prefix_template == ""; }},
      {"--color never", [](R r) { return r.colour == Colour::never; }},
      {"--num-processes 4 --interactive-rank 3", [](R r) { return r.interactive_rank == Rank{3}; }},
      {"-q", [](R r) { return r.chatter == Chatter::quiet; }},
      {"--max-restarts 3 --restart-window 1h",
       [](R r) { return r.restart.max_restarts == 3 && r.restart.window == Duration(1h) && r.warnings.empty(); }},
      {"--max-restarts 1 --restart-on port_in_use,out_of_memory",
       [](R r) {
         return r.restart.only_on == std::vector{Category::port_in_use, Category::out_of_memory};
       }},
      {"--shutdown-timeout 0", [](R r) { return r.stop.shutdown_timeout == 0s; }},
      {"--kill-timeout 1.5", [](R r) { return r.stop.kill_timeout == 1500ms; }},
      {"--time-limit 01:00:00", [](R r) { return r.time.limit == Duration(1h); }},
      {"--time-limit 1h --checkpoint-signal USR1",
       [](R r) { return r.time.checkpoint_signal == SIGUSR1 && r.time.checkpoint_lead == 60s; }},
      {"--time-limit 1h --checkpoint-signal SIGUSR2@2m",
       [](R r) { return r.time.checkpoint_signal == SIGUSR2 && r.time.checkpoint_lead == 2min; }},
      {"--memory-check refuse", [](R r) { return r.memory.check == MemoryCheck::refuse; }},
      {"--memory_check=off", [](R r) { return r.memory.check == MemoryCheck::off; }},
      {"--isolate", [](R r) { return r.isolation == Isolation::requested; }},
      {"--start-method spawn", [](R r) { return r.start_method == StartMethod::spawn && r.warnings.empty(); }},
      {"--start-method template", [](R r) { return r.start_method == StartMethod::from_template; }},
      {"--template", [](R r) { return r.start_method == StartMethod::from_template; }},
      {"--template --start-method template", [](R r) { return r.start_method == StartMethod::from_template; }},
      {"--config-file none", [](R r) { return r.warnings.empty(); }},
      {"--dry-run --format json --host-facts f.json",
       [](R r) {
         return r.mode == RunMode::dry_run && r.format == OutputFormat::json && r.host_facts_file == "f.json";
       }},
  };
  for (const Row& row : rows) EXPECT_TRUE(row.holds(parsed(row.head + " train.py"))) << row.head;
}

TEST(ParseLaunch, SameFlagTwice_LastOneCounts) {
  EXPECT_EQ(std::get<ProcessesInTotal>(parsed("--num-processes 2 --num_processes=3 x").processes).count, 3);
  EXPECT_EQ(parsed("--tee 3 -t 0 x").tee.of({0}), Streams::none);
}

TEST(ParseLaunch, EnvFlags_KeepTheirOrder) {
  const LaunchRequest request = parsed("--env A=1 --env B= --env A=x=y x");
  EXPECT_EQ(request.extra_environment, (std::vector<EnvironmentVariable>{{"A", "1"}, {"B", ""}, {"A", "x=y"}}));
}

TEST(ParseLaunch, BadValue_IsOneSentenceWithFlagValueAndExpectation) {
  struct Row {
    std::string head;
    std::vector<std::string> parts;
  };
  const std::vector<Row> rows{
      {"--num-processes 0", {"--num-processes: got '0', expected a whole number from 1 to 1000000"}},
      {"--num-processes -1", {"got '-1', expected"}},
      {"--num-processes abc", {"got 'abc', expected"}},
      {"--log-dir /logs/{rank}", {"--log-dir: got '/logs/{rank}', expected a directory for the whole job"}},
      {"--log-dir ${local_rank}", {"--log-dir: got '${local_rank}', expected a directory"}},
      {"--num-processes 1000000000", {"got '1000000000', expected"}},
      {"--num-processes 1000001", {"got '1000001', expected"}},
      {"--num-processes=", {"got '', expected"}},
      {"--nproc-per-node many", {"--nproc-per-node: got 'many'", "auto, cpu or gpu"}},
      {"--nproc-per-node 0", {"--nproc-per-node: got '0'"}},
      {"--num-machines 0", {"--num-machines: got '0', expected a whole number from 1 to 100000"}},
      {"--nnodes x", {"--nnodes: got 'x', expected a number of machines"}},
      {"--nnodes 1:4", {"--nnodes: got '1:4'", "elastic sizes are not supported in this version"}},
      {"--nnodes 1:2:3", {"--nnodes: got '1:2:3'"}},
      {"--machine-rank 1", {"--machine-rank: got '1', expected 0"}},
      {"--num-machines 2 --machine-rank 2 --main-process-ip h",
       {"--machine-rank: got '2', expected a whole number from 0 to 1"}},
      {"--main-process-port 65536", {"--main-process-port: got '65536', expected a whole number from 0 to 65535"}},
      {"--master-addr a:1", {"--master-addr: got 'a:1', expected a host name or address without a port"}},
      {"--rdzv-endpoint a:x", {"--rdzv-endpoint: got 'a:x', expected HOST or HOST:PORT"}},
      {"--rdzv-backend zookeeper", {"--rdzv-backend: got 'zookeeper', expected static, c10d, etcd or etcd-v2"}},
      {"--gpu-ids 0,,1", {"--gpu-ids: got '0,,1'"}},
      {"--num-cpu-threads-per-process 0", {"--num-cpu-threads-per-process: got '0'"}},
      {"--cpu-binding socket", {"--cpu-binding: got 'socket', expected none, core or numa"}},
      {"--memory-check maybe", {"--memory-check: got 'maybe', expected warn, refuse or off"}},
      {"--numa-binding core", {"--numa-binding: got 'core', expected node, socket, exclusive or core-complex"}},
      {"--framework pytorch", {"--framework: got 'pytorch', expected auto, torch, jax, tensorflow or none"}},
      {"--mixed-precision bf8", {"--mixed-precision: got 'bf8', expected no, fp16, bf16 or fp8"}},
      {"--dynamo-backend INDUCTOR", {"--dynamo-backend: got 'INDUCTOR', expected no, eager"}},
      {"--dynamo-mode fast", {"--dynamo-mode: got 'fast'"}},
      {"--env NAME", {"--env: got 'NAME', expected NAME=VALUE"}},
      {"--env =x --env A=1", {"--env: got '=x', expected NAME=VALUE"}},
      {"--role=", {"--role: got ''"}},
      {"--log-dir=", {"--log-dir: got '', expected a directory"}},
      {"--python=", {"--python: got ''"}},
      {"-r 4", {"--redirects: got '4', expected 0, 1, 2 or 3, or a map"}},
      {"-t 0:9", {"--tee: got '0:9'"}},
      {"--local-ranks-filter a", {"--local-ranks-filter: got 'a', expected local ranks between commas"}},
      {"--color yes", {"--color: got 'yes', expected auto, always or never"}},
      {"--interactive-rank -1", {"--interactive-rank: got '-1'"}},
      {"--max-restarts -1", {"--max-restarts: got '-1', expected a whole number from 0 to 1000000"}},
      {"--restart-window 0", {"--restart-window: got '0', expected a time above 0"}},
      {"--restart-on oom", {"--restart-on: got 'oom', expected causes between commas"}},
      {"--restart-on exit_code,", {"--restart-on: got ''"}},
      {"--restart-on interrupted", {"--restart-on: got 'interrupted', expected a cause that a restart can help"}},
      {"--shutdown-timeout soon", {"--shutdown-timeout: got 'soon', expected a time"}},
      {"--kill-timeout -1", {"--kill-timeout: got '-1'"}},
      {"--time-limit 0", {"--time-limit: got '0', expected a time above 0"}},
      {"--checkpoint-signal KILL", {"--checkpoint-signal: got 'KILL', expected a signal that a program can handle"}},
      {"--checkpoint-signal USR1@", {"--checkpoint-signal: got 'USR1@'"}},
      {"--time-limit 30 --checkpoint-signal USR1", {"--checkpoint-signal: 60 s", "--time-limit of '30'"}},
      {"--start-method thread", {"--start-method: got 'thread', expected template, spawn, fork or forkserver"}},
      {"--template --start-method spawn", {"--template and --start-method spawn contradict each other"}},
      {"--template --expand-arguments", {"--template and --expand-arguments contradict each other"}},
      {"--format yaml", {"--format: got 'yaml', expected text or json"}},
      {"--host-facts=", {"--host-facts: got ''"}},
      {"--config-file c.yaml", {"--config-file: got 'c.yaml', expected none"}},
  };
  for (const Row& row : rows) {
    const std::string message = refused(row.head + " train.py");
    for (const std::string& part : row.parts) EXPECT_TRUE(contains(message, part)) << row.head << "\n  " << message;
    EXPECT_FALSE(contains(message, "\n")) << message;
    EXPECT_LT(message.size(), 300U) << message;
  }
}

TEST(ParseLaunch, HugeOrBinaryValue_IsCutAndStaysOnOneLine) {
  const Result<LaunchRequest> huge = parse_launch({"--num-processes", std::string(1'000'000, '7'), "x"}, {});
  ASSERT_FALSE(huge);
  EXPECT_LT(huge.error().message.size(), 200U);
  const Result<LaunchRequest> binary = parse_launch({"--color", "a\n\x1b[31mb", "x"}, {});
  ASSERT_FALSE(binary);
  EXPECT_TRUE(contains(binary.error().message, "'a\\x0a\\x1b[31mb'")) << binary.error().message;
}

}  // namespace
}  // namespace forklift
