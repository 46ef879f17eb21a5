#include "launcher/system/ports.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "launcher/system/process_table.hpp"
#include "launcher/system/tcp_table.hpp"
#include "tests/support/leak_check.hpp"
#include "worker/descriptor.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

class Ports : public support::LeakChecked {};

/// A socket on the loopback address of `family`; it listens on its `port`.
struct Listener {
  explicit Listener(int family, int wanted = 0) : socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in6 address{};  // Large enough for both; the port is at the same place.
    address.sin6_family = static_cast<sa_family_t>(family);
    address.sin6_port = htons(static_cast<std::uint16_t>(wanted));
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    const auto* any = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    if (::bind(socket.get(), any, sizeof address) != 0 || ::listen(socket.get(), 8) != 0) return;
    socklen_t length = sizeof address;
    ::getsockname(socket.get(), static_cast<sockaddr*>(static_cast<void*>(&address)), &length);
    port = ntohs(address.sin6_port);
  }
  Descriptor socket;
  int port = 0;  ///< 0: the machine refused.
};

Descriptor connect_to(int port) {
  Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* any = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  if (::connect(client.get(), any, sizeof address) != 0) client.close();
  return client;
}

// With a fixed order of search most of them would find the first port after the ephemeral range.
TEST_F(Ports, SearchesOfManyJobs_DoNotMeetAtOnePort) {
  std::set<int> first;
  for (int job = 0; job < 20; ++job) {
    const auto found = find_free_ports(1);
    ASSERT_TRUE(found) << found.error().message;
    first.insert(found.value().front());
  }
  EXPECT_GE(first.size(), 15U);
}

TEST_F(Ports, Found_AreDifferentFreeAndOutsideTheEphemeralRange) {
  const auto found = find_free_ports(20);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(std::set<int>(found.value().begin(), found.value().end()).size(), 20U);
  const auto range = read_kernel_file("/proc/sys/net/ipv4/ip_local_port_range");
  std::string_view ends = range ? std::string_view(*range) : std::string_view("1 1");
  const auto lowest = static_cast<int>(parse_number(next_field(ends, " \t\n")).value());
  const auto highest = static_cast<int>(parse_number(next_field(ends, " \t\n")).value());
  for (const int port : found.value()) {
    EXPECT_GT(port, 1024);
    EXPECT_LE(port, 65535);
    EXPECT_TRUE(port < lowest || port > highest) << port;
    EXPECT_TRUE(port_is_free(port)) << port;
    EXPECT_FALSE(holder_of_port(port)) << port;
  }
}

TEST_F(Ports, NoneWanted_NoneFound) {
  const auto found = find_free_ports(0);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found.value().empty());
}

TEST_F(Ports, WithoutDescriptors_IsOneClearError) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto found = find_free_ports(1);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::system);
  EXPECT_EQ(found.error().os_errno, EMFILE);
  EXPECT_NE(found.error().message.find("no socket can be opened"), std::string::npos) << found.error().message;
}

TEST_F(Ports, ListenedPort_IsHeldByItsProcess) {
  for (const int family : {AF_INET, AF_INET6}) {
    const Listener listener(family);
    if (listener.port == 0) {
      std::printf("no %s on this machine\n", family == AF_INET ? "IPv4" : "IPv6");
      continue;
    }
    EXPECT_FALSE(port_is_free(listener.port));
    const auto holder = holder_of_port(listener.port);
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->port, listener.port);
    EXPECT_EQ(holder->pid, ::getpid());
    EXPECT_EQ(holder->command, command_of(::getpid()));
  }
}

TEST_F(Ports, ClosedPort_IsFreeThoughItsConnectionsAreRemembered) {
  int port = 0;
  {
    const Listener listener(AF_INET);
    port = listener.port;
    ASSERT_NE(port, 0);
    const Descriptor client = connect_to(port);
    ASSERT_TRUE(client.valid());
    Descriptor server(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    server.close();  // The side that closes first remembers the connection, here the one with the port.
  }
  EXPECT_TRUE(port_was_connected(port));
  EXPECT_TRUE(port_is_free(port));
  EXPECT_FALSE(holder_of_port(port));
}

TEST_F(Ports, ConnectionThatTheClientClosed_IsRememberedToo) {
  const Listener listener(AF_INET);
  ASSERT_NE(listener.port, 0);
  EXPECT_FALSE(port_was_connected(listener.port));
  Descriptor client = connect_to(listener.port);
  ASSERT_TRUE(client.valid());
  EXPECT_TRUE(port_was_connected(listener.port));
  Descriptor server(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  client.close();
  server.close();
  EXPECT_TRUE(port_was_connected(listener.port));
}

TEST(TcpTable, Lines) {
  const auto listening = parse_tcp_socket(
      "   0: 00000000:733C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 5124 1 0 100 0 0 10 "
      "0");
  ASSERT_TRUE(listening);
  EXPECT_TRUE(listening->listening);
  EXPECT_EQ(listening->local.port, 29500);
  EXPECT_EQ(listening->remote.port, 0);
  EXPECT_EQ(listening->inode, 5124U);
  const auto remembered = parse_tcp_socket(
      "  12: 0100007F:733C 0100007F:D2A8 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0");
  ASSERT_TRUE(remembered);
  EXPECT_FALSE(remembered->listening);
  EXPECT_EQ(remembered->inode, 0U);
  for (const char* line :
       {"  sl  local_address rem_address   st tx_queue", "", "   0: nonsense", "   0: 1:zz 2:zz 0A"}) {
    EXPECT_FALSE(parse_tcp_socket(line)) << line;
  }
}

TEST(TcpTable, Connection_IsLocalIfBothEndsAreHere) {
  const struct {
    const char* local;
    const char* remote;
    bool is_local;
  } table[] = {
      {"0100007F", "0100007F", true},
      {"0100007F", "0101007F", true},  // 127.0.1.1, what Debian calls the own host name.
      {"0A00000A", "0A00000A", true},
      {"0A00000A", "0B00000A", false},
      {"0000000000000000FFFF00000100007F", "0100007F", true},
      {"00000000000000000000000001000000", "00000000000000000000000001000000", true},
      {"0000000000000000FFFF00000A00000A", "0000000000000000FFFF00000B00000A", false},
  };
  for (const auto& row : table) {
    const TcpSocket socket{{row.local, 1}, {row.remote, 2}, false, 0};
    EXPECT_EQ(is_local_connection(socket), row.is_local) << row.local << " " << row.remote;
  }
}

}  // namespace
}  // namespace forklift
