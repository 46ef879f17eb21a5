#include "launcher/system/ports.hpp"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "worker/descriptor.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

constexpr int first_port = 1025;
constexpr int last_port = 65535;

/// What connections of the last minute (TIME_WAIT) mean for a port.
enum class Remains {
  count,    ///< A port to choose should have no past.
  ignored,  ///< A port that the user named is free if a server could bind it, and servers set SO_REUSEADDR.
};

struct Binding {
  Descriptor socket;
  int error = 0;  ///< errno. 0: bound, or this machine does not speak the family at all.
};

union Address {
  sockaddr any;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;
};

Address every_local_address(int family, int port) {
  Address address{};
  address.any.sa_family = static_cast<sa_family_t>(family);
  // Zero is "any address" in both families, and both have the port in the same place.
  address.ipv4.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

Binding bind_port(int family, int port, Remains remains) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket.valid()) return {Descriptor(), errno == EAFNOSUPPORT ? 0 : errno};
  const int on = 1;
  if (remains == Remains::ignored) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  const Address address = every_local_address(family, port);
  if (::bind(socket.get(), &address.any, sizeof address) == 0) return {std::move(socket), 0};
  return {Descriptor(), errno == EADDRNOTAVAIL ? 0 : errno};  // IPv6 may be switched off.
}

/// 0 if the port can be bound on every local address, else the reason.
int try_port(int port, Remains remains) {
  const Binding ipv4 = bind_port(AF_INET, port, remains);
  return ipv4.error != 0 ? ipv4.error : bind_port(AF_INET6, port, remains).error;
}

bool is_want_of_descriptors(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS; }

Error no_sockets(int error) {
  return {ErrorKind::system,
          std::string("cannot look for a free port: no socket can be opened (") + std::strerror(error) + ")", error};
}

/// All ports above the privileged ones that the kernel neither hands out by itself nor was told to keep.
std::vector<int> quiet_ports() {
  const auto range = read_kernel_file("/proc/sys/net/ipv4/ip_local_port_range");
  const auto reserved = read_kernel_file("/proc/sys/net/ipv4/ip_local_reserved_ports");
  std::string_view ends = range ? std::string_view(*range) : std::string_view();
  const auto lowest = parse_number(next_field(ends, " \t\n")).value_or(last_port + 1);
  const auto highest = parse_number(next_field(ends, " \t\n")).value_or(last_port + 1);
  std::vector<int> kept = parse_number_list(reserved.value_or(""));
  std::sort(kept.begin(), kept.end());
  std::vector<int> ports;
  for (int port = first_port; port <= last_port; ++port) {
    const auto number = static_cast<std::uint64_t>(port);
    if (number >= lowest && number <= highest) continue;
    if (!std::binary_search(kept.begin(), kept.end(), port)) ports.push_back(port);
  }
  return ports;
}

// Jobs that start together on one machine must not all try the same port first.
std::size_t random_start(std::size_t count) {
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) {
    random = static_cast<std::uint32_t>(::getpid()) * 2654435761U;  // Spreads neighbouring pids over all 32 bits.
  }
  return random % count;
}

/// Adds to `found` until it has `count`, or no quiet port is left.
Result<void> find_quiet_ports(std::size_t count, std::vector<int>& found) {
  if (found.size() == count) return {};
  const std::vector<int> ports = quiet_ports();
  if (ports.empty()) return {};
  const std::size_t start = random_start(ports.size());
  for (std::size_t i = 0; i < ports.size() && found.size() < count; ++i) {
    const int port = ports[(start + i) % ports.size()];
    const int error = try_port(port, Remains::count);
    if (is_want_of_descriptors(error)) return no_sockets(error);
    if (error == 0) found.push_back(port);
  }
  return {};
}

/// The rest as the kernel chooses. The sockets stay open until the end, so that it does not choose a port twice.
Result<void> find_ephemeral_ports(std::size_t count, std::vector<int>& found) {
  std::vector<Descriptor> held;
  while (found.size() < count) {
    Binding chosen = bind_port(AF_INET, 0, Remains::count);
    if (is_want_of_descriptors(chosen.error)) return no_sockets(chosen.error);
    Address address{};
    socklen_t length = sizeof address;
    if (!chosen.socket.valid() || ::getsockname(chosen.socket.get(), &address.any, &length) != 0) {
      return Error{ErrorKind::system,
                   "no free TCP port is left on this machine (wanted " + std::to_string(count) + ", found " +
                       std::to_string(found.size()) + ")",
                   chosen.error};
    }
    held.push_back(std::move(chosen.socket));
    const int port = ntohs(address.ipv4.sin_port);
    const bool known = std::find(found.begin(), found.end(), port) != found.end();
    if (!known && bind_port(AF_INET6, port, Remains::count).error == 0) found.push_back(port);
  }
  return {};
}

}  // namespace

Result<std::vector<int>> find_free_ports(int count) {
  std::vector<int> found;
  const auto wanted = static_cast<std::size_t>(std::max(count, 0));
  for (const auto find : {find_quiet_ports, find_ephemeral_ports}) {
    if (auto searched = find(wanted, found); !searched) return searched.error();
  }
  return found;
}

bool port_is_free(int port) { return try_port(port, Remains::ignored) == 0; }

}  // namespace forklift
