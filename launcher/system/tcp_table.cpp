#include "launcher/system/tcp_table.hpp"

#include <charconv>

#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

constexpr std::string_view listen_state = "0A";

std::optional<TcpEnd> parse_end(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  int port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port, 16);
  if (error != std::errc{}) return std::nullopt;
  return TcpEnd{text.substr(0, colon), port};
}

// An IPv4 address in the IPv6 table, ::ffff:a.b.c.d, without its first twelve bytes.
std::string_view without_mapping(std::string_view address) {
  for (const std::string_view prefix : {"0000000000000000FFFF0000", "00000000000000000000FFFF"}) {
    if (address.size() > prefix.size() && address.starts_with(prefix)) return address.substr(prefix.size());
  }
  return address;
}

bool is_loopback(std::string_view address) {
  constexpr std::size_t ipv4_digits = 8;
  // 127.0.0.1 is 0100007F on a little-endian machine and 7F000001 on a big-endian one; ::1 likewise.
  if (address.size() == ipv4_digits) return address.ends_with("7F") || address.starts_with("7F");
  return address == "00000000000000000000000001000000" || address == "00000000000000000000000000000001";
}

}  // namespace

std::optional<TcpSocket> parse_tcp_socket(std::string_view line) {
  next_field(line);  // number
  const auto local = parse_end(next_field(line));
  const auto remote = parse_end(next_field(line));
  if (!local || !remote) return std::nullopt;
  TcpSocket socket{*local, *remote, next_field(line) == listen_state, 0};
  for (int skipped = 0; skipped < 5; ++skipped) next_field(line);  // queues, timer, retransmissions, user, timeout
  socket.inode = parse_number(next_field(line)).value_or(0);
  return socket;
}

bool is_local_connection(const TcpSocket& socket) {
  const auto local = without_mapping(socket.local.address);
  const auto remote = without_mapping(socket.remote.address);
  return local == remote || (is_loopback(local) && is_loopback(remote));
}

bool any_tcp_socket(const std::function<bool(const TcpSocket&)>& matches) {
  for (const char* const path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto table = read_kernel_file(path);
    bool found = false;
    for_each_line(table ? std::string_view(*table) : std::string_view(), [&](std::string_view line) {
      const auto socket = parse_tcp_socket(line);
      found = socket && matches(*socket);
      return found ? Scan::stop : Scan::go_on;
    });
    if (found) return true;
  }
  return false;
}

}  // namespace forklift
