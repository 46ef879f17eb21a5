// Whether the machine has room for a copy, asked before a byte is copied: afterwards it would be the OOM killer's
// answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forklift/result.hpp"
#include "worker/cgroup.hpp"

namespace forklift::weights {

/// How much memory can still be had, by one that limits it.
struct MemoryRoom {
  std::uint64_t bytes = 0;
  std::string limited_by;  ///< In words: "the machine (MemAvailable and SwapFree in /proc/meminfo)".
};

/// What the machine has left, by /proc/meminfo's text; empty if it does not say.
std::optional<MemoryRoom> machine_room(std::string_view meminfo);

/// What each level of a memory cgroup has left: its limit less its usage, of which the page cache gives way.
std::vector<MemoryRoom> cgroup_room(const Cgroup& memory);

/// All that limits this process now.
std::vector<MemoryRoom> read_memory_room();

/// An error if `bytes` more do not fit; `what` begins the sentence: "a copy of 'bert.safetensors'".
Result<void> check_room(std::uint64_t bytes, const std::vector<MemoryRoom>& rooms, const std::string& what);

}  // namespace forklift::weights
