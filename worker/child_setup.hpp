// What every spawned replica does between clone and exec. Async-signal-safe: reads the image, makes system calls,
// nothing else.
#pragma once

#include "worker/child_image.hpp"

namespace forklift {

/// Performs the steps before execve in the order of StartStep. os_errno of the result is 0 when all succeeded.
/// On entry all signals are blocked; they still are on return (unblock_signals comes last, right before execve).
ChildFailure set_up_child(const ChildImage& image) noexcept;

/// Gives the child the launcher's original signal mask.
void unblock_signals(const ChildImage& image) noexcept;

}  // namespace forklift
