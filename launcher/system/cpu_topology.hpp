// Cores, hardware threads and NUMA nodes, as far as this process may use them.
#pragma once

#include <string>
#include <vector>

#include "forklift/host_facts.hpp"

namespace forklift {

/// The affinity mask of this process (what a cpuset, taskset or Slurm left of the machine), ascending.
std::vector<int> allowed_cpus();

/// The cores that `allowed` (ascending) belongs to, ordered by NUMA node, then by number. Reads one small file a core,
/// under `root`/sys. Where the machine does not tell, every CPU is a core of its own on node 0.
std::vector<CpuCore> read_cores(const std::vector<int>& allowed, const std::string& root = "");

}  // namespace forklift
