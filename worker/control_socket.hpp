// The socket that carries control messages: packets (SOCK_SEQPACKET), with descriptors beside them, and the sender's
// pid as the kernel knows it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forklift/result.hpp"
#include "worker/descriptor.hpp"
#include "worker/format/control_message.hpp"

namespace forklift {

/// What one receive() gave.
enum class Arrival {
  message,
  nothing,  ///< A non-blocking socket has none.
  closed,   ///< The other end is gone.
  foreign,  ///< A packet that is no message of ours; it was thrown away.
};

struct Arrived {
  control::Message message;
  std::vector<Descriptor> descriptors;  ///< Close-on-exec.
  pid_t sender = 0;                     ///< In our pid namespace; 0 if the kernel did not say.
};

class ControlSocket {
 public:
  /// Whether send() and receive() wait.
  enum class Mode { blocking, non_blocking };

  ControlSocket() = default;
  explicit ControlSocket(Descriptor socket) : socket_(std::move(socket)) {}

  /// Two connected ends, close-on-exec, which wait. Either learns who sends.
  static Result<std::pair<ControlSocket, ControlSocket>> make_pair();

  /// Sends a message with descriptors (which stay the caller's). A message that is too long for a packet goes through
  /// memory. Never raises SIGPIPE. With Mode::non_blocking an error with EAGAIN says that the other side is behind.
  Result<void> send(const control::Message& message, std::span<const int> descriptors = {},
                    Mode mode = Mode::blocking) const;

  Arrival receive(Arrived& arrived, Mode mode = Mode::blocking) const;

  /// The same for a message that was encoded before, and for one whose text is known: a process that has just been
  /// forked copies every page that it writes to, and a JSON document is many of them.
  Result<void> send_encoded(std::string_view text) const;
  /// Waits for one packet. message: it is `text`.
  [[nodiscard]] Arrival receive_expected(std::string_view text) const;

  [[nodiscard]] int get() const { return socket_.get(); }
  [[nodiscard]] bool valid() const { return socket_.valid(); }
  void close() { socket_.close(); }
  [[nodiscard]] Descriptor release() { return std::move(socket_); }

 private:
  Descriptor socket_;
};

/// A memfd that holds `bytes` and can no longer be changed.
Result<Descriptor> sealed_memory(const char* name, std::string_view bytes);

/// All of a descriptor made by sealed_memory(), from its beginning. Errors: it is no sealed memory, or longer than
/// `limit` bytes.
Result<std::string> read_sealed_memory(int descriptor, std::size_t limit);

}  // namespace forklift
