// What guard and supervisor say to each other over their socket pair: one small packet per message. The
// end of the stream says that the other one is gone.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "forklift/result.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

struct GuardMessage {
  enum class Kind : std::uint8_t {
    signal,         ///< guard → supervisor: the guard received `number`.
    terminal_key,   ///< The same, typed at the terminal (the kernel sent it).
    resumed,        ///< guard → supervisor: the guard was stopped and goes on; the terminal is ready.
    stop_yourself,  ///< supervisor → guard: the interactive replica was stopped from the terminal.
    die_of_signal,  ///< supervisor → guard: the run was ended by signal `number`; the guard dies of it in its turn.
  };
  Kind kind = Kind::signal;
  std::int32_t number = 0;
};

enum class Received { message, nothing, closed };

/// A connected pair of packet sockets, close-on-exec, non-blocking. First: guard's end.
Result<std::pair<Descriptor, Descriptor>> make_guard_channel();

/// Never blocks, never raises SIGPIPE; a message that does not fit (the other side is stuck) is dropped.
void send_message(int socket, GuardMessage message);

/// Never blocks.
Received receive_message(int socket, GuardMessage& message);

}  // namespace forklift
