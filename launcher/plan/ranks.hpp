// The shape of a job's world: how many replicas, on how many nodes, and which global ranks are this node's.
#pragma once

#include <optional>
#include <string>

#include "forklift/plan.hpp"
#include "launcher/plan/devices.hpp"

namespace forklift {

/// Whether replicas are told that they are part of a world (RANK, WORLD_SIZE, MASTER_ADDR, …).
enum class Identity {
  told,
  withheld,  ///< A world of 1 in accelerate's dialect: Accelerator must not take itself for distributed.
};

/// Every node has the same number of replicas; the ranks of a node are contiguous.
struct WorldShape {
  int world_size = 1;
  int num_nodes = 1;
  NodeRank node_rank;
  int local_world_size = 1;
  Identity identity = Identity::told;
  std::string count_origin;           ///< Why this many, where the user did not give a number; else empty.
  std::optional<std::string> notice;  ///< A sentence for the user about that number.
};

constexpr int largest_world = 1'000'000;
constexpr int most_local_replicas = 65'536;

/// The shape that the request asks for on this host. Error (usage): a count or rank out of range, a total that the
/// machines cannot share evenly, or devices to count where there are none.
Result<WorldShape> shape_world(const LaunchRequest& request, const HostFacts& host, const Devices& devices);

Rank rank_of(const WorldShape& world, LocalRank local_rank);

/// The local rank of a global one, or nothing if that replica is another node's.
std::optional<LocalRank> local_rank_of(const WorldShape& world, Rank rank);

/// CPUs' worth of work that the job may really use here: the affinity mask, cut by the cgroup quota; at least 1.
int usable_cpu_budget(const HostFacts& host);

}  // namespace forklift
