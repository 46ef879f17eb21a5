// Ctrl-C while a host program waits for its replicas.
#pragma once

#include <signal.h>

#include "worker/descriptor.hpp"

namespace forklift {

/// For its lifetime SIGINT is counted instead of doing what the host program does with it; then the host's own handler
/// is back. One at a time in a process.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  /// Readable when SIGINT has come; -1 where none could be made.
  [[nodiscard]] int descriptor() const { return reader_.get(); }
  /// How often since the last call.
  int take() const;

 private:
  Descriptor reader_;
  Descriptor writer_;
  struct sigaction before_ {};
};

}  // namespace forklift
