#include "launcher/plan/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

Error usage(std::string message) { return {ErrorKind::usage, std::move(message)}; }

/// Replicas on each node, and why so many.
struct LocalCount {
  std::int64_t count = 1;
  std::string origin;
  std::optional<std::string> notice;
};

LocalCount default_count(const LaunchRequest& request, const Devices& devices) {
  if (devices.count() > 0) {
    return {
        devices.count(),
        fmt::format("one for each of {} ({})", counted(devices.count(), devices.kind + " accelerator"), devices.origin),
        {}};
  }
  if (devices.tpu_chips > 0) {
    return {1, fmt::format("one process drives {}", counted(devices.tpu_chips, "TPU chip")), {}};
  }
  const std::string why = request.device == DeviceChoice::cpu
                              ? "1 process: --cpu without --num-processes"
                              : "1 process: no accelerator found and --num-processes not given";
  return {1, why, why};
}

Result<LocalCount> counted_by(CountedBy by, const HostFacts& host, const Devices& devices) {
  if (by == CountedBy::gpu && devices.count() == 0) {
    return usage(
        fmt::format("--nproc-per-node gpu: no accelerator was found on {}; give a number, or 'cpu'", host.hostname));
  }
  if (by != CountedBy::cpu && devices.count() > 0) {
    return LocalCount{devices.count(),
                      fmt::format("{} ({})", counted(devices.count(), devices.kind + " accelerator"), devices.origin),
                      {}};
  }
  const int cpus = usable_cpu_budget(host);
  return LocalCount{cpus, fmt::format("{} (affinity mask and cgroup quota)", counted(cpus, "usable CPU")), {}};
}

Error uneven(int total, int machines) {
  const int below = total - total % machines;
  const std::string fits =
      below == 0 ? fmt::format("{} would fit", machines) : fmt::format("{} or {} would fit", below, below + machines);
  return usage(
      fmt::format("--num-processes {} is the total over all machines, and {} machines cannot share it evenly: {}",
                  total, machines, fits));
}

Result<LocalCount> local_count(const LaunchRequest& request, const HostFacts& host, const Devices& devices) {
  return std::visit(
      [&](const auto& processes) -> Result<LocalCount> {
        using Kind = std::decay_t<decltype(processes)>;
        if constexpr (std::is_same_v<Kind, ProcessesUnset>) {
          return default_count(request, devices);
        } else if constexpr (std::is_same_v<Kind, ProcessesInTotal>) {
          if (processes.count < 1)
            return usage(fmt::format("--num-processes {}: expected at least 1", processes.count));
          if (processes.count % request.num_machines != 0) return uneven(processes.count, request.num_machines);
          return LocalCount{processes.count / request.num_machines, {}, {}};
        } else if constexpr (std::is_same_v<Kind, ProcessesPerNode>) {
          if (processes.count < 1)
            return usage(fmt::format("--nproc-per-node {}: expected at least 1", processes.count));
          return LocalCount{processes.count, {}, {}};
        } else {
          return counted_by(processes.by, host, devices);
        }
      },
      request.processes);
}

Result<NodeRank> own_node_rank(const LaunchRequest& request) {
  if (!request.machine_rank) {
    if (request.num_machines == 1) return NodeRank{0};
    return usage(fmt::format("--machine-rank is needed with {} machines: this machine's number, 0 to {}",
                             request.num_machines, request.num_machines - 1));
  }
  const int rank = request.machine_rank->value;
  if (rank >= 0 && rank < request.num_machines) return *request.machine_rank;
  return usage(fmt::format("--machine-rank {} is outside the job: with {} it is {}", rank,
                           counted(request.num_machines, "machine"),
                           request.num_machines == 1 ? "0" : fmt::format("0 to {}", request.num_machines - 1)));
}

}  // namespace

Result<WorldShape> shape_world(const LaunchRequest& request, const HostFacts& host, const Devices& devices) {
  if (request.num_machines < 1) {
    return usage(fmt::format("--num-machines {}: expected at least 1", request.num_machines));
  }
  const auto node_rank = own_node_rank(request);
  if (!node_rank) return node_rank.error();
  const auto local = local_count(request, host, devices);
  if (!local) return local.error();

  const std::int64_t total = local.value().count * request.num_machines;
  if (total > largest_world) {
    return usage(fmt::format("a job of {} replicas is too large: at most {} are supported", total, largest_world));
  }
  if (local.value().count > most_local_replicas) {
    return usage(fmt::format("{} replicas on one machine are too many: at most {} are supported", local.value().count,
                             most_local_replicas));
  }
  WorldShape world;
  world.world_size = static_cast<int>(total);
  world.num_nodes = request.num_machines;
  world.node_rank = node_rank.value();
  world.local_world_size = static_cast<int>(local.value().count);
  world.count_origin = local.value().origin;
  world.notice = local.value().notice;
  // The rule is Accelerator's; a program of no framework always gets to know its place.
  if (total == 1 && request.dialect == Dialect::accelerate && request.framework != Framework::none) {
    world.identity = Identity::withheld;
  }
  return world;
}

Rank rank_of(const WorldShape& world, LocalRank local_rank) {
  return {world.node_rank.value * world.local_world_size + local_rank.value};
}

std::optional<LocalRank> local_rank_of(const WorldShape& world, Rank rank) {
  const int local = rank.value - world.node_rank.value * world.local_world_size;
  if (local < 0 || local >= world.local_world_size) return std::nullopt;
  return LocalRank{local};
}

int usable_cpu_budget(const HostFacts& host) {
  int budget = usable_cpus(host);
  if (host.cpu_quota && *host.cpu_quota < static_cast<double>(budget)) budget = static_cast<int>(*host.cpu_quota);
  return std::max(1, budget);
}

}  // namespace forklift
