// HostFacts: a photograph of a machine. No behaviour; read by launcher/system, or from a file (--host-facts).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace forklift {

/// One physical core and its hardware threads that this process may use.
struct CpuCore {
  std::vector<int> cpus;  ///< Logical CPU numbers, ascending, at least one.
  int numa_node = 0;
};

/// One accelerator as seen without opening it (PCI, device nodes).
struct Accelerator {
  std::string kind;     ///< "cuda", "rocm", "xpu", "hpu", "npu", "tpu"
  std::string address;  ///< PCI address or device node.
  int numa_node = -1;   ///< -1: unknown.
};

struct HostFacts {
  std::string hostname;
  std::string kernel;               ///< uname release
  std::vector<CpuCore> cores;       ///< Only CPUs in this process's affinity mask, ordered by NUMA node, then number.
  std::optional<double> cpu_quota;  ///< CPUs' worth of time per the cgroup quota; empty: unlimited.
  std::uint64_t memory_total_bytes = 0;
  std::uint64_t memory_available_bytes = 0;
  std::optional<std::uint64_t> memory_limit_bytes;  ///< The tightest cgroup limit; empty: unlimited.
  /// What the limits of our cgroups leave: the least of limit - use, pages of files counted as free. Empty: unlimited.
  std::optional<std::uint64_t> memory_limit_room_bytes;
  std::uint64_t shm_total_bytes = 0;  ///< Size of /dev/shm; 0 if there is none.
  std::uint64_t shm_free_bytes = 0;
  std::uint64_t open_files_limit = 0;  ///< Hard RLIMIT_NOFILE.
  std::vector<Accelerator> accelerators;
  std::map<std::string, std::string> capabilities;  ///< e.g. "pidfd" → "yes", "pid_namespace" → "no: EPERM".
};

/// Logical CPUs that may be used.
inline int usable_cpus(const HostFacts& facts) {
  int count = 0;
  for (const CpuCore& core : facts.cores) count += static_cast<int>(core.cpus.size());
  return count;
}

}  // namespace forklift
