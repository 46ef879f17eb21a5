// Reads what a diagnosis rests on: OOM counters, /dev/shm, error files, memory limits.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "launcher/diagnose/evidence.hpp"
#include "worker/cgroup.hpp"

namespace forklift {

/// The cgroup, v2 or v1, that governs our memory (found through /proc/self/cgroup and /proc/self/mountinfo): once per
/// run, for what follows.
std::optional<Cgroup> own_memory_cgroup();

/// /proc/vmstat and `memory`.
OomCounters read_oom_counters(const std::optional<Cgroup>& memory);

/// statvfs("/dev/shm"); empty if there is none.
std::optional<SharedMemoryFacts> read_shared_memory();

/// The tightest limit from `memory` up to the root of what is visible; empty: unlimited.
std::optional<std::uint64_t> read_memory_limit(const std::optional<Cgroup>& memory);

/// Total memory of the machine.
std::uint64_t read_memory_total();

/// True if memory.oom.group is set for `memory`: an OOM kill would take the launcher along.
bool oom_kills_whole_group(const std::optional<Cgroup>& memory);

/// At most `limit` bytes of a file; empty if it does not exist or is empty.
std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t limit = 4U << 20);

/// The names in a directory; none if it cannot be read.
std::set<std::string> list_directory(const std::filesystem::path& path);

/// The last `limit` bytes of a file; empty text if it does not exist.
std::string read_file_tail(const std::filesystem::path& path, std::size_t limit);

}  // namespace forklift
