// What a process holds when shared pages are divided among those that share them.
#pragma once

#include <cstdint>
#include <optional>

namespace forklift {

/// Pss of /proc/PID/smaps_rollup, in bytes. Walks the page tables of the process: milliseconds per GiB in small pages.
/// Empty if it is gone, or the kernel does not say.
std::optional<std::uint64_t> proportional_bytes(int pid);

}  // namespace forklift
