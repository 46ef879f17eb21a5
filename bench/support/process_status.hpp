// What the kernel says of a running process: how often it was scheduled, and how much memory it holds.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace forklift::bench {

/// The children of all threads of a process. Throws std::runtime_error if the process is gone.
std::vector<pid_t> children_of(pid_t pid);

/// Context switches of all its threads so far, voluntary or not: each wake-up is at least one.
std::uint64_t context_switches(pid_t pid);

struct Memory {
  std::uint64_t rss_kib = 0;
  std::uint64_t pss_kib = 0;  ///< RSS with every shared page divided by the number of its users.
};

Memory memory_of(pid_t pid);

}  // namespace forklift::bench
