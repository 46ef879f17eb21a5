#include "bench/support/muster.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace forklift::bench {
namespace {

Descriptor make_pipe(const std::filesystem::path& path) {
  // Opened for both directions, neither end waits for the other, and no reader sees an end of file in between.
  Descriptor pipe;
  if (::mkfifo(path.c_str(), 0600) == 0) pipe = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!pipe.valid()) throw std::system_error(errno, std::generic_category(), path);
  return pipe;
}

}  // namespace

Muster::Muster(const Workspace& workspace)
    : up_path_(workspace.file("up")),
      go_path_(workspace.file("go")),
      up_(make_pipe(up_path_)),
      go_(make_pipe(go_path_)) {}

Muster::~Muster() {
  ::unlink(up_path_.c_str());
  ::unlink(go_path_.c_str());
}

void Muster::wait_until_up(int replicas, RunningProgram& launcher) {
  for (int up = 0; up < replicas; ++up) {
    if (next_record(launcher) != 0) throw std::runtime_error("a replica crashed before it was told to");
  }
}

Clock::time_point Muster::crash(RunningProgram& launcher) {
  if (::write(go_.get(), "g", 1) != 1) throw std::system_error(errno, std::generic_category(), go_path_);
  return next_moment(launcher);
}

Clock::time_point Muster::next_moment(RunningProgram& launcher) {
  return Clock::time_point(std::chrono::nanoseconds(next_record(launcher)));
}

std::int64_t Muster::next_record(RunningProgram& launcher) {
  constexpr int look_at_launcher_every_ms = 100;
  pollfd readable{up_.get(), POLLIN, 0};
  while (::poll(&readable, 1, look_at_launcher_every_ms) <= 0) launcher.check_still_running();
  std::int64_t record = 0;
  if (::read(up_.get(), &record, sizeof record) != sizeof record) {
    throw std::system_error(errno, std::generic_category(), up_path_);
  }
  return record;
}

}  // namespace forklift::bench
