#include "launcher/supervise/sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace forklift {
namespace {

/// POLLOUT of a pipe promises room for this much (PIPE_BUF).
constexpr std::size_t promised_room = 4096;

Descriptor open_again(int number) {
  return Descriptor(
      ::open(fmt::format("/proc/self/fd/{}", number).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

Sink::Sink(int inherited) : inherited_(inherited) {
  struct stat status {};
  if (::fstat(inherited, &status) != 0) return;
  identity_ = {status.st_dev, status.st_ino};
  if (S_ISSOCK(status.st_mode)) {
    kind_ = Kind::socket;
  } else if (S_ISFIFO(status.st_mode)) {
    kind_ = Kind::pipe;
  } else if (S_ISCHR(status.st_mode)) {
    kind_ = ::isatty(inherited) == 1 ? Kind::terminal : Kind::other_device;
  }
  if (kind_ == Kind::pipe || kind_ == Kind::terminal || kind_ == Kind::other_device) own_ = open_again(inherited);
}

SinkResult Sink::write(std::string_view bytes) const {
  SinkResult result;
  while (!bytes.empty()) {
    const ssize_t written = write_once(bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      result.os_errno = errno;
      return result;
    }
    result.written += static_cast<std::size_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return result;
}

ssize_t Sink::write_once(std::string_view bytes) const {
  switch (kind_) {
    case Kind::file:
      return ::write(inherited_, bytes.data(), bytes.size());
    case Kind::socket:
      return ::send(inherited_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Kind::pipe:
    case Kind::terminal:
    case Kind::other_device:
      return own_.valid() ? ::write(own_.get(), bytes.data(), bytes.size()) : write_if_writable(bytes);
  }
  return 0;
}

ssize_t Sink::write_if_writable(std::string_view bytes) const {
  pollfd room{inherited_, POLLOUT, 0};
  const int ready = ::poll(&room, 1, 0);
  if (ready < 0) return -1;
  if (ready == 0) {
    errno = EAGAIN;
    return -1;
  }
  // An error or a hang-up does not block either: write() says which it is.
  bytes = bytes.substr(0, promised_room);
  return ::write(inherited_, bytes.data(), bytes.size());
}

}  // namespace forklift
