// Our own control groups: where they are, and what they allow. Version 2, version 1, and machines that have both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forklift {

enum class CgroupVersion { v1, v2 };

/// The control group of this process for one controller.
struct Cgroup {
  CgroupVersion version = CgroupVersion::v2;
  /// Its own directory, then each ancestor up to the root of what is visible here. Never empty.
  std::vector<std::string> levels;
};

/// The two files that say where a process's control groups are.
struct CgroupTables {
  std::string membership;  ///< /proc/self/cgroup
  std::string mounts;      ///< /proc/self/mountinfo
};
CgroupTables read_cgroup_tables();

/// In the place of a controller: version 2's hierarchy, whichever controllers it has.
constexpr std::string_view unified_hierarchy;

/// Where `controller` ("memory", "cpu") governs us; empty if it is not mounted. Reads nothing.
std::optional<Cgroup> locate_cgroup(const CgroupTables& tables, std::string_view controller);

/// The tightest memory limit of all levels, in bytes; empty: unlimited.
std::optional<std::uint64_t> memory_limit(const Cgroup& memory);

/// What the limits leave, in bytes: the least of limit - use over all levels that have a limit. Pages of files, which
/// the kernel gives back under pressure, count as free. Empty: unlimited, or use cannot be read.
std::optional<std::uint64_t> memory_room(const Cgroup& memory);

/// The tightest quota of all levels, in CPUs' worth of time; empty: unlimited.
std::optional<double> cpu_quota(const Cgroup& cpu);

/// How many processes of our own group were killed for want of memory; empty where the kernel does not count.
std::optional<std::uint64_t> oom_kills(const Cgroup& memory);

/// Whether an OOM kill at any level takes all processes below it (memory.oom.group).
bool has_oom_group(const Cgroup& memory);

}  // namespace forklift
