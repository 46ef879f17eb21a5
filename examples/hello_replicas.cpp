// A program of N replicas without any framework: the environment that forklift sets is all they need to find each
// other.
//
//     forklift launch --num-processes 4 build/release/examples/hello_replicas
//
// Every replica squares its rank; replica 0 listens on MASTER_PORT, receives the other numbers and prints the sum.

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set: start me with `forklift launch`");
  return value;
}

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses rendezvous() {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(environment("MASTER_ADDR").c_str(), environment("MASTER_PORT").c_str(), &hints, &found);
  if (error != 0) throw std::runtime_error("MASTER_ADDR: " + std::string(::gai_strerror(error)));
  return {found, &::freeaddrinfo};
}

Socket open_socket(const addrinfo& address) {
  Socket socket(::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol));
  if (socket.get() < 0) fail("socket");
  return socket;
}

Socket listen_at(const addrinfo& address, int backlog) {
  Socket socket = open_socket(address);
  const int reuse = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  if (::bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0) fail("bind");
  if (::listen(socket.get(), backlog) != 0) fail("listen");
  return socket;
}

// Replica 0 may not listen yet, so a refusal is tried again for half a minute.
Socket connect_to(const addrinfo& address) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (true) {
    Socket socket = open_socket(address);
    if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return socket;
    if (errno != ECONNREFUSED || std::chrono::steady_clock::now() > deadline) fail("connect");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void send_number(const Socket& socket, std::uint64_t number) {
  if (::send(socket.get(), &number, sizeof number, MSG_NOSIGNAL) != sizeof number) fail("send");
}

std::uint64_t receive_number(const Socket& listener) {
  const Socket peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (peer.get() < 0) fail("accept");
  std::uint64_t number = 0;
  const ssize_t received = ::recv(peer.get(), &number, sizeof number, MSG_WAITALL);
  if (received < 0) fail("recv");
  if (received != sizeof number) throw std::runtime_error("a replica left before it had sent its number");
  return number;
}

void run() {
  const int rank = std::stoi(environment("RANK"));
  const int world_size = std::stoi(environment("WORLD_SIZE"));
  const auto mine = static_cast<std::uint64_t>(rank) * static_cast<std::uint64_t>(rank);
  const Addresses addresses = rendezvous();

  std::cout << "replica " << rank << " of " << world_size << " contributes " << mine << std::endl;
  if (rank != 0) {
    send_number(connect_to(*addresses), mine);
    return;
  }
  const Socket listener = listen_at(*addresses, world_size);
  std::uint64_t sum = mine;
  for (int others = world_size - 1; others > 0; --others) sum += receive_number(listener);
  std::cout << "sum over " << world_size << " replicas = " << sum << std::endl;
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::cerr << "hello_replicas: " << error.what() << '\n';
    return 1;
  }
}
