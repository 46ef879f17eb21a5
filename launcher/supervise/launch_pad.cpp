#include "launcher/supervise/launch_pad.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/supervise/stream_ends.hpp"

namespace forklift {

int LaunchPad::open() {
  for (Descriptor* each : {&null_device_, &places_[0], &places_[1]}) {
    if (each->valid()) continue;
    *each = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!each->valid()) return errno;
  }
  return 0;
}

int LaunchPad::place(OutputStream stream, Descriptor end) {
  return ::dup3(end.get(), places_[index_of(stream)].get(), O_CLOEXEC);
}

void LaunchPad::clear() {
  for (const Descriptor& place : places_) ::dup3(null_device_.get(), place.get(), O_CLOEXEC);
}

}  // namespace forklift
