// The kernel's table of TCP sockets: /proc/net/tcp and /proc/net/tcp6.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace forklift {

struct TcpEnd {
  std::string_view address;  ///< As the kernel writes it: hexadecimal, words in the machine's byte order.
  int port = 0;
};

struct TcpSocket {
  TcpEnd local;
  TcpEnd remote;
  bool listening = false;
  std::uint64_t inode = 0;  ///< 0: belongs to no process any more (TIME_WAIT).
};

/// One line of the table; empty for its heading.
std::optional<TcpSocket> parse_tcp_socket(std::string_view line);

/// Whether both ends are on this machine.
bool is_local_connection(const TcpSocket& socket);

/// Shows every socket of both tables to `matches` until it returns true; whether it did. The socket's texts live only
/// as long as the call.
bool any_tcp_socket(const std::function<bool(const TcpSocket&)>& matches);

}  // namespace forklift
