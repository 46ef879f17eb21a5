#include "worker/model/memory_room.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "worker/format/byte_text.hpp"
#include "worker/kernel_file.hpp"

namespace forklift::weights {
namespace {

std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

/// The page cache of a group, which gives way: active_file and inactive_file of memory.stat, without shared memory.
std::uint64_t reclaimable(const std::string& level, const char* prefix) {
  const std::string stat = read_kernel_file(level + "/memory.stat").value_or("");
  const auto field = [&](const char* name) { return number_of_key(stat, prefix + std::string(name)).value_or(0); };
  return field("active_file") + field("inactive_file");
}

struct CgroupFiles {
  const char* limit;
  const char* usage;
  const char* stat_prefix;  ///< Of the figures that include the groups below.
};

constexpr CgroupFiles files_of(CgroupVersion version) {
  switch (version) {
    case CgroupVersion::v1:
      return {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_"};
    case CgroupVersion::v2:
      return {"/memory.max", "/memory.current", ""};
  }
  return {};
}

}  // namespace

std::optional<MemoryRoom> machine_room(std::string_view meminfo) {
  const auto available = number_of_key(meminfo, "MemAvailable");
  if (!available) return std::nullopt;
  const std::uint64_t swap = number_of_key(meminfo, "SwapFree").value_or(0);
  return MemoryRoom{(*available + swap) * 1024, "the machine (MemAvailable and SwapFree of /proc/meminfo)"};
}

std::vector<MemoryRoom> cgroup_room(const Cgroup& memory) {
  const CgroupFiles files = files_of(memory.version);
  std::vector<MemoryRoom> rooms;
  for (const std::string& level : memory.levels) {
    const auto limit = read_kernel_number(level + files.limit);  // "max" is no number.
    const auto usage = read_kernel_number(level + files.usage);
    if (!limit || !usage) continue;
    const std::uint64_t kept = less(*usage, reclaimable(level, files.stat_prefix));
    rooms.push_back({less(*limit, kept),
                     fmt::format("the control group's limit {}{} ({})", level, files.limit, format_bytes(*limit))});
  }
  return rooms;
}

std::vector<MemoryRoom> read_memory_room() {
  std::vector<MemoryRoom> rooms;
  if (const auto group = locate_cgroup(read_cgroup_tables(), "memory")) rooms = cgroup_room(*group);
  if (const auto machine = machine_room(read_kernel_file("/proc/meminfo").value_or(""))) rooms.push_back(*machine);
  return rooms;
}

Result<void> check_room(std::uint64_t bytes, const std::vector<MemoryRoom>& rooms, const std::string& what) {
  const auto tightest = std::min_element(rooms.begin(), rooms.end(),
                                         [](const MemoryRoom& a, const MemoryRoom& b) { return a.bytes < b.bytes; });
  if (tightest == rooms.end() || tightest->bytes >= bytes) return {};
  return Error{ErrorKind::system, fmt::format("{} needs {} of memory, but {} leaves {}", what, format_bytes(bytes),
                                              tightest->limited_by, format_bytes(tightest->bytes))};
}

}  // namespace forklift::weights
