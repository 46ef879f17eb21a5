#include "launcher/system/cpu_topology.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <set>

#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

/// NUMA node of each CPU. Empty on a machine with one node, where nothing needs to be looked up.
std::map<int, int> read_numa_nodes(const std::string& root) {
  std::map<int, int> node_of;
  const std::string directory = root + "/sys/devices/system/node";
  const std::vector<int> nodes = numbered_entries(directory, "node");
  if (nodes.size() < 2) return node_of;
  for (const int node : nodes) {
    const auto cpus = read_kernel_file(directory + "/node" + std::to_string(node) + "/cpulist");
    if (!cpus) continue;
    for (const int cpu : parse_number_list(*cpus)) node_of[cpu] = node;
  }
  return node_of;
}

/// The hardware threads that share a core with `cpu`, itself included.
std::vector<int> read_siblings(int cpu, const std::string& root) {
  const std::string file =
      root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list";
  auto siblings = parse_number_list(read_kernel_file(file).value_or(""));
  if (std::find(siblings.begin(), siblings.end(), cpu) == siblings.end()) return {cpu};
  return siblings;
}

}  // namespace

std::vector<int> allowed_cpus() {
  // The kernel refuses a mask smaller than its own number of possible CPUs, which it does not tell.
  for (int capacity = CPU_SETSIZE; capacity <= (1 << 20); capacity *= 2) {
    const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
    const std::unique_ptr<cpu_set_t, decltype(release)> set(CPU_ALLOC(static_cast<std::size_t>(capacity)), release);
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    if (!set) return {};
    CPU_ZERO_S(bytes, set.get());
    if (::sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      return {};
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) cpus.push_back(cpu);
    }
    return cpus;
  }
  return {};
}

std::vector<CpuCore> read_cores(const std::vector<int>& allowed, const std::string& root) {
  const auto node_of = read_numa_nodes(root);
  std::vector<CpuCore> cores;
  std::set<int> placed;
  for (const int cpu : allowed) {
    if (placed.contains(cpu)) continue;  // With the sibling that came first.
    CpuCore core;
    for (const int sibling : read_siblings(cpu, root)) {
      if (std::binary_search(allowed.begin(), allowed.end(), sibling)) core.cpus.push_back(sibling);
    }
    const auto node = node_of.find(cpu);
    core.numa_node = node == node_of.end() ? 0 : node->second;
    placed.insert(core.cpus.begin(), core.cpus.end());
    cores.push_back(std::move(core));
  }
  std::stable_sort(cores.begin(), cores.end(),
                   [](const CpuCore& left, const CpuCore& right) { return left.numa_node < right.numa_node; });
  return cores;
}

}  // namespace forklift
