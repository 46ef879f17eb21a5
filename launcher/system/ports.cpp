#include "launcher/system/ports.hpp"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <string>

#include "worker/descriptor.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

constexpr int first_port = 10000;  // Below live the services that a machine may start later.
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

/// The ports that the kernel neither hands out by itself nor was told to keep.
class QuietPorts {
 public:
  QuietPorts() {
    const auto range = read_kernel_file("/proc/sys/net/ipv4/ip_local_port_range");
    std::string_view ends = range ? std::string_view(*range) : std::string_view();
    lowest_ = parse_number(next_field(ends, " \t\n")).value_or(last_port + 1);
    highest_ = parse_number(next_field(ends, " \t\n")).value_or(last_port + 1);
    reserved_ = parse_number_list(read_kernel_file("/proc/sys/net/ipv4/ip_local_reserved_ports").value_or(""));
  }
  [[nodiscard]] bool contain(int port) const {
    const auto number = static_cast<std::uint64_t>(port);
    return (number < lowest_ || number > highest_) &&
           std::find(reserved_.begin(), reserved_.end(), port) == reserved_.end();
  }

 private:
  std::uint64_t lowest_ = 0;
  std::uint64_t highest_ = 0;
  std::vector<int> reserved_;
};

// Jobs that start together on one machine must not all try the same port first.
int random_offset(int count) {
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) {
    random = static_cast<std::uint32_t>(::getpid()) * 2654435761U;  // Spreads neighbouring pids over all 32 bits.
  }
  return static_cast<int>(random % static_cast<std::uint32_t>(count));
}

/// Adds to `found` until it has `count`, or no quiet port is left.
Result<void> find_quiet_ports(std::size_t count, std::vector<int>& found) {
  if (found.size() == count) return {};
  constexpr int ports = last_port - first_port + 1;
  // From one port to the next in wide steps, or all who start within the kernel's range would meet at its end. The step
  // shares no factor with the number of ports, so each comes once.
  constexpr int step = 7919;
  static_assert(std::gcd(ports, step) == 1);
  const QuietPorts quiet;
  const int start = random_offset(ports);
  for (int i = 0, at = start; i < ports && found.size() < count; ++i, at = (at + step) % ports) {
    const int port = first_port + at;
    if (!quiet.contain(port)) continue;
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
