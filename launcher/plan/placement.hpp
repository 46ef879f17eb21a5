// Which CPUs each replica may run on, and how many threads that makes.
#pragma once

#include <string>
#include <vector>

#include "forklift/plan.hpp"
#include "launcher/plan/devices.hpp"

namespace forklift {

enum class MaskSharing {
  unbound,  ///< No replica has a mask.
  own,      ///< Every replica has CPUs that no other replica of this node has.
  shared,   ///< Some replicas share a mask.
};

struct Placement {
  std::vector<std::vector<int>> masks;  ///< By local rank, ascending; empty: unbound.
  std::vector<int> threads;             ///< By local rank: CPUs' worth of work of its own, at least 1.
  MaskSharing sharing = MaskSharing::unbound;
  std::vector<std::string> warnings;
};

/// Places `replicas` replicas (≥ 1).
/// core: contiguous shares of physical cores in NUMA order, siblings together; with more replicas than cores, in turn.
/// numa: the node of the replica's accelerator where it is known, else the nodes in turn.
/// A cgroup quota limits the threads and not the masks: quotas are shares of time, and if every container of a machine
/// packed itself onto the first cores, they would fight for those. Error (usage): a binding, but no cores are known.
Result<Placement> place_replicas(CpuBinding binding, const HostFacts& host, const Devices& devices, int replicas);

}  // namespace forklift
