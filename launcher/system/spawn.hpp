// Starts one replica from its frozen image.
#pragma once

#include <boost/asio/io_context.hpp>
#include <variant>

#include "forklift/outcome.hpp"
#include "worker/child_image.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

/// A running process. Whoever holds this reaps it (waitid on the pidfd); it is not stopped by the destructor.
struct Spawned {
  pid_t pid = 0;
  Descriptor pidfd;
};

/// Blocks until the child has exec'ed or failed (tens of microseconds). After a failure nothing is left to reap.
std::variant<Spawned, FailedToStart> spawn(boost::asio::io_context& io, const ChildImage& image);

}  // namespace forklift
