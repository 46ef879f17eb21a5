#include "launcher/system/guard_channel.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace forklift {

Result<std::pair<Descriptor, Descriptor>> make_guard_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return Error{ErrorKind::system, std::string("cannot make the guard's socket: ") + std::strerror(errno), errno};
  }
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

void send_message(int socket, GuardMessage message) {
  while (::send(socket, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

Received receive_message(int socket, GuardMessage& message) {
  for (;;) {
    const auto got = ::recv(socket, &message, sizeof message, 0);
    if (got == static_cast<ssize_t>(sizeof message)) return Received::message;
    if (got >= 0) return Received::closed;
    if (errno == EAGAIN) return Received::nothing;
    if (errno != EINTR) return Received::closed;
  }
}

}  // namespace forklift
