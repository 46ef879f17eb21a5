// One new process that runs a body until it execs or fails. The only place that clones.
#pragma once

#include <limits>

#include "worker/child_image.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

/// What the new process runs: returns only if it failed. Async-signal-safe; runs in our memory.
using ChildBody = ChildFailure (*)(void* context) noexcept;

struct NewProcess {
  pid_t pid = -1;
  Descriptor pidfd;
  ChildFailure failure;  ///< os_errno != 0: nothing was started (or it was reaped already); step `clone` or the body's.
};

/// Every descriptor, whatever its number.
inline constexpr int all_descriptors = std::numeric_limits<int>::max();

/// The new process has the descriptors below `descriptors_below`, and no others. A launcher of many replicas has
/// thousands; to copy its table and close it again would be most of the work of a start.
///
/// clone(CLONE_VM | CLONE_VFORK | CLONE_PIDFD): independent of the size of our memory, and returns when the child has
/// exec'ed or failed. Under a sanitizer, which cannot follow a child in shared memory, fork() and a pipe for the
/// failure. All signals are blocked around it, so the body starts with all signals blocked. Not for
/// two threads at a time.
NewProcess start_process(ChildBody body, void* context, int descriptors_below = all_descriptors);

/// Ends and reaps a process that was started but cannot be watched.
void end_unadopted(pid_t pid);

}  // namespace forklift
