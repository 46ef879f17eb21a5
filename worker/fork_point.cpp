// fork_point(): one answer for a template, a replica of its own, and a program that nobody launched.
#include <fcntl.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "forklift/worker.hpp"
#include "worker/fork_server.hpp"

namespace forklift {
namespace {

bool is_template() {
  const char* flag = std::getenv("FORKLIFT_TEMPLATE");
  return flag != nullptr && std::strcmp(flag, "1") == 0;
}

/// The socket that the launcher left for us, from now on not inherited by whatever this program executes.
ControlSocket inherited_control_socket() {
  const char* text = std::getenv("FORKLIFT_CONTROL_FD");
  int number = -1;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  int type = 0;
  socklen_t size = sizeof type;
  if (number < 0 || ::getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    throw std::runtime_error(
        "forklift::fork_point(): FORKLIFT_TEMPLATE is set, but FORKLIFT_CONTROL_FD names no socket of a launcher; was "
        "the descriptor closed, or is this a child of the template?");
  }
  ::fcntl(number, F_SETFD, FD_CLOEXEC);
  return ControlSocket(Descriptor(number));
}

}  // namespace

const Replica& fork_point(const ForkHooks& hooks) {
  static std::optional<Replica> self;
  // The replica's own socket stays open to its end: through it the launcher knows that it is there.
  static ControlSocket control;
  if (self) {
    throw std::logic_error("forklift::fork_point() was called a second time in the same process; a program has one");
  }
  if (is_template()) {
    ReplicaSeat seat = serve_forks(inherited_control_socket(), hooks);
    control = std::move(seat.control);
  }
  self = Replica::from_environment();
  return *self;
}

}  // namespace forklift
