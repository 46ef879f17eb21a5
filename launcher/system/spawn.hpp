// Starts one replica from its frozen image.
#pragma once

#include <variant>

#include "forklift/outcome.hpp"
#include "worker/child_image.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

/// A running process. Whoever holds this reaps it by waitid on the pidfd, which gives exit code, signal, core flag and
/// usage in one call; it is not stopped by the destructor.
struct Spawned {
  pid_t pid = 0;
  Descriptor pidfd;
};

/// Blocks until the child has exec'ed or failed (tens of microseconds). After a failure nothing is left to reap.
std::variant<Spawned, FailedToStart> spawn(const ChildImage& image);

}  // namespace forklift
