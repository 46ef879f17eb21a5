// The hot paths by themselves, for whoever changes one: no bar, but each beside the least that its work could cost.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "forklift/plan.hpp"
#include "launcher/output/line_prefixer.hpp"
#include "launcher/policy/group_machine.hpp"
#include "launcher/system/frozen_image.hpp"

namespace forklift {
namespace {

/// One read of a busy pipe: 64 KiB of lines.
std::string lines_of(std::size_t line_length) {
  std::string bytes;
  while (bytes.size() + line_length <= (std::size_t{64} << 10)) bytes += std::string(line_length - 1, 'x') + '\n';
  return bytes;
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void BM_Memcpy(benchmark::State& state) {
  const std::string bytes = lines_of(static_cast<std::size_t>(state.range(0)));
  std::string out(bytes.size(), '\0');
  for (auto _ : state) {
    std::memcpy(out.data(), bytes.data(), bytes.size());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, bytes.size());
}
BENCHMARK(BM_Memcpy)->Arg(80)->Arg(1000);

void BM_LinePrefixer(benchmark::State& state) {
  const std::string bytes = lines_of(static_cast<std::size_t>(state.range(0)));
  LinePrefixer prefixer("[12] ", ProgressStyle::last_only);
  std::string out;
  for (auto _ : state) {
    out.clear();
    prefixer.feed(bytes, out);
    benchmark::DoNotOptimize(out.data());
  }
  count_bytes(state, bytes.size());
}
BENCHMARK(BM_LinePrefixer)->Arg(80)->Arg(1000);

Environment environment_of(int variables) {
  Environment environment;
  for (int i = 0; i < variables; ++i) environment["VARIABLE_" + std::to_string(i)] = std::string(40, 'v');
  return environment;
}

void BM_FrozenImage(benchmark::State& state) {
  const InheritedEnvironment inherited(environment_of(static_cast<int>(state.range(0))), {});
  const std::vector<EnvironmentVariable> own = {
      {"LOCAL_RANK", "0"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}, {"RANK", "0"}, {"WORLD_SIZE", "8"}};
  ReplicaPlan replica;
  replica.argv = {"python3", "-u", "train.py", "--epochs", "3"};
  for (auto _ : state) {
    FrozenImage image(replica, "/usr/bin/python3", own, inherited);
    benchmark::DoNotOptimize(image.image().envp);
  }
}
BENCHMARK(BM_FrozenImage)->Arg(30)->Arg(1000);

/// A whole run of the policy: everybody starts and exits 0.
void BM_GroupMachine_RunToSuccess(benchmark::State& state) {
  using namespace policy;
  const auto replicas = static_cast<int>(state.range(0));
  GroupRules rules;
  rules.replicas = replicas;
  for (auto _ : state) {
    GroupMachine machine(rules);
    Instant now{};
    const auto step = [&](const Event& event) {
      now += std::chrono::microseconds(1);
      benchmark::DoNotOptimize(machine.step(event, now));
    };
    step(Begin{});
    step(PortsReserved{});
    step(GroupStarted{});
    for (int rank = 0; rank < replicas; ++rank) step(ReplicaEnded{{rank}, Exited{0}});
    step(DescendantsLeft{0});
    step(AttemptDiagnosed{});
    if (!machine.finished()) state.SkipWithError("the run did not finish");
  }
  state.SetItemsProcessed(state.iterations() * replicas);
}
BENCHMARK(BM_GroupMachine_RunToSuccess)->Arg(64)->Arg(2048);

}  // namespace
}  // namespace forklift

BENCHMARK_MAIN();
