// Reads what a diagnosis rests on: OOM counters, /dev/shm, error files, memory limits.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "launcher/diagnose/evidence.hpp"

namespace forklift {

/// /proc/vmstat and our own memory cgroup, v2 or v1 (found through /proc/self/cgroup and /proc/self/mountinfo).
OomCounters read_oom_counters();

/// statvfs("/dev/shm"); empty if there is none.
std::optional<SharedMemoryFacts> read_shared_memory();

/// The tightest limit from our cgroup up to the root of what is visible; empty: unlimited.
std::optional<std::uint64_t> read_memory_limit();

/// Total memory of the machine.
std::uint64_t read_memory_total();

/// True if memory.oom.group is set for our cgroup: an OOM kill would take the launcher along.
bool oom_kills_whole_group();

/// At most `limit` bytes of a file; empty if it does not exist or is empty.
std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t limit = 4U << 20);

/// The names in a directory; none if it cannot be read.
std::set<std::string> list_directory(const std::filesystem::path& path);

/// The last `limit` bytes of a file; empty text if it does not exist.
std::string read_file_tail(const std::filesystem::path& path, std::size_t limit);

}  // namespace forklift
