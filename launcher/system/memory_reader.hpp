// Memory of running processes, and what is left of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace forklift {

/// The smaller of MemAvailable and what the limits of our control groups leave. 0 if the kernel does not say.
std::uint64_t read_usable_memory();

/// The anonymous memory of a process: its heap, and what it has written to of files that it mapped privately. Pages
/// that it shares with its parent since a fork count in both, so this is what a process holds for itself only if it was
/// executed. Microseconds (/proc/PID/statm). Empty: it is gone.
std::optional<std::uint64_t> read_anonymous_memory(pid_t pid);

}  // namespace forklift
