#include "launcher/plan/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "launcher/plan/ranks.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

using Mask = std::vector<int>;

/// Host facts from a file need not be in order.
std::vector<CpuCore> in_numa_order(std::vector<CpuCore> cores) {
  std::erase_if(cores, [](const CpuCore& core) { return core.cpus.empty(); });
  std::stable_sort(cores.begin(), cores.end(), [](const CpuCore& left, const CpuCore& right) {
    return std::pair(left.numa_node, left.cpus.front()) < std::pair(right.numa_node, right.cpus.front());
  });
  return cores;
}

Mask mask_of(const CpuCore* first, const CpuCore* last) {
  Mask mask;
  for (; first != last; ++first) mask.insert(mask.end(), first->cpus.begin(), first->cpus.end());
  std::sort(mask.begin(), mask.end());
  return mask;
}

std::vector<Mask> masks_by_core(const std::vector<CpuCore>& cores, std::size_t replicas) {
  std::vector<Mask> masks;
  const std::size_t count = cores.size();
  for (std::size_t index = 0; index < replicas; ++index) {
    const bool enough = replicas <= count;
    const std::size_t first = enough ? index * count / replicas : index % count;
    const std::size_t last = enough ? (index + 1) * count / replicas : first + 1;
    masks.push_back(mask_of(cores.data() + first, cores.data() + last));
  }
  return masks;
}

std::vector<Mask> masks_by_numa_node(const std::vector<CpuCore>& cores, const Devices& devices, std::size_t replicas) {
  std::map<int, Mask> nodes;
  for (const CpuCore& core : cores)
    nodes[core.numa_node].insert(nodes[core.numa_node].end(), core.cpus.begin(), core.cpus.end());
  std::vector<const Mask*> in_turn;
  for (auto& [node, mask] : nodes) {
    std::sort(mask.begin(), mask.end());
    in_turn.push_back(&mask);
  }
  std::vector<Mask> masks;
  for (std::size_t index = 0; index < replicas; ++index) {
    const bool has_device = index < devices.numa_nodes.size();
    const auto near_device = has_device ? nodes.find(devices.numa_nodes[index]) : nodes.end();
    masks.push_back(near_device != nodes.end() ? near_device->second : *in_turn[index % in_turn.size()]);
  }
  return masks;
}

/// Masks are equal or disjoint, so a CPU's work is divided by the number of replicas with that same mask.
void share_threads(const HostFacts& host, Placement& placement) {
  const int budget = usable_cpu_budget(host);
  const int replicas = static_cast<int>(placement.masks.size());
  std::map<int, int> sharers;  // first CPU of a mask → replicas with it
  for (const Mask& mask : placement.masks) ++sharers[mask.front()];
  placement.sharing = MaskSharing::own;
  for (const Mask& mask : placement.masks) {
    const int sharing = sharers[mask.front()];
    if (sharing > 1) placement.sharing = MaskSharing::shared;
    int threads = static_cast<int>(mask.size()) / sharing;
    if (budget < usable_cpus(host)) threads = std::min(threads, budget / replicas);
    placement.threads.push_back(std::max(1, threads));
  }
}

}  // namespace

Result<Placement> place_replicas(CpuBinding binding, const HostFacts& host, const Devices& devices, int replicas) {
  Placement placement;
  const auto count = static_cast<std::size_t>(replicas);
  if (binding == CpuBinding::none) {
    placement.threads.assign(count, std::max(1, usable_cpu_budget(host) / replicas));
    return placement;
  }
  const std::vector<CpuCore> cores = in_numa_order(host.cores);
  if (cores.empty()) {
    return Error{ErrorKind::usage,
                 fmt::format("--cpu-binding: the cores of {} are not known; expected at least one core in "
                             "its host facts",
                             host.hostname)};
  }
  if (binding == CpuBinding::core) {
    placement.masks = masks_by_core(cores, count);
    if (count > cores.size()) {
      placement.warnings.push_back(fmt::format("--cpu-binding core: {} on {}, so that some share a core",
                                               counted(replicas, "replica"),
                                               counted(static_cast<long long>(cores.size()), "core")));
    }
  } else {
    placement.masks = masks_by_numa_node(cores, devices, count);
  }
  share_threads(host, placement);
  return placement;
}

}  // namespace forklift
