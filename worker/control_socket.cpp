#include "worker/control_socket.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace forklift {
namespace {

constexpr std::size_t most_descriptors = 8;
constexpr int all_seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;

Error refused(const char* what) { return {ErrorKind::system, std::string(what) + ": " + std::strerror(errno), errno}; }

/// Room for the descriptors and the credentials of one packet.
union Ancillary {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int) * most_descriptors) + CMSG_SPACE(sizeof(ucred))> bytes;
};

void take_ancillary(msghdr& header, Arrived& arrived) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof number);
        arrived.descriptors.emplace_back(number);
      }
    } else if (part->cmsg_type == SCM_CREDENTIALS) {
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
      arrived.sender = sender.pid;
    }
  }
}

Result<void> send_packet(int socket, std::string_view text, std::span<const int> descriptors,
                         ControlSocket::Mode mode) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  Ancillary ancillary{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = ancillary.bytes.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  const int flags = MSG_NOSIGNAL | (mode == ControlSocket::Mode::non_blocking ? MSG_DONTWAIT : 0);
  while (::sendmsg(socket, &header, flags) < 0) {
    if (errno != EINTR) return refused("cannot send a control message");
  }
  return {};
}

}  // namespace

Result<std::pair<ControlSocket, ControlSocket>> ControlSocket::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return refused("cannot make a control socket");
  std::pair<ControlSocket, ControlSocket> pair{ControlSocket(Descriptor(ends[0])), ControlSocket(Descriptor(ends[1]))};
  const int on = 1;
  for (const int end : ends) {
    if (::setsockopt(end, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return refused("cannot make a control socket");
  }
  return pair;
}

Result<void> ControlSocket::send(const control::Message& message, std::span<const int> descriptors, Mode mode) const {
  const std::string text = control::encode(message);
  if (text.size() <= control::largest_packet) return send_packet(get(), text, descriptors, mode);
  const auto memory = sealed_memory("forklift-message", text);
  if (!memory) return memory.error();
  std::vector<int> with_memory{memory.value().get()};
  with_memory.insert(with_memory.end(), descriptors.begin(), descriptors.end());
  return send_packet(get(), control::encode(control::InMemory{}), with_memory, mode);
}

Result<void> ControlSocket::send_encoded(std::string_view text) const {
  return send_packet(get(), text, {}, Mode::blocking);
}

Arrival ControlSocket::receive_expected(std::string_view text) const {
  std::array<char, 256> packet;
  ssize_t got = 0;
  do {
    got = ::recv(get(), packet.data(), packet.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return Arrival::closed;
  return std::string_view(packet.data(), static_cast<std::size_t>(got)) == text ? Arrival::message : Arrival::foreign;
}

Arrival ControlSocket::receive(Arrived& arrived, Mode mode) const {
  arrived = {};
  std::array<char, control::largest_packet + 1> text;  // Not initialised: only what has come is touched.
  iovec part{text.data(), text.size()};
  Ancillary ancillary{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary.bytes.data();
  header.msg_controllen = ancillary.bytes.size();
  const int flags = MSG_CMSG_CLOEXEC | (mode == Mode::non_blocking ? MSG_DONTWAIT : 0);
  ssize_t got = 0;
  while ((got = ::recvmsg(get(), &header, flags)) < 0) {
    if (errno == EINTR) continue;
    return errno == EAGAIN ? Arrival::nothing : Arrival::closed;
  }
  take_ancillary(header, arrived);
  // The end of the stream has no sender; an empty packet has.
  if (got == 0) return arrived.sender == 0 ? Arrival::closed : Arrival::foreign;
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return Arrival::foreign;
  auto message = control::decode({text.data(), static_cast<std::size_t>(got)});
  if (message && std::holds_alternative<control::InMemory>(message.value())) {
    if (arrived.descriptors.empty()) return Arrival::foreign;
    const auto held = read_sealed_memory(arrived.descriptors.front().get(), control::largest_message);
    if (!held) return Arrival::foreign;
    arrived.descriptors.erase(arrived.descriptors.begin());
    message = control::decode(held.value());
    if (message && std::holds_alternative<control::InMemory>(message.value())) return Arrival::foreign;
  }
  if (!message) return Arrival::foreign;
  arrived.message = std::move(message).value();
  return Arrival::message;
}

Result<Descriptor> sealed_memory(const char* name, std::string_view bytes) {
  Descriptor memory(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return refused("cannot make shared memory (memfd_create)");
  while (!bytes.empty()) {
    const ssize_t written = ::write(memory.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return refused("cannot fill shared memory");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fcntl(memory.get(), F_ADD_SEALS, all_seals) != 0) return refused("cannot seal shared memory");
  return memory;
}

Result<std::string> read_sealed_memory(int descriptor, std::size_t limit) {
  // Unsealed, it could shrink while it is read.
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  struct stat status {};
  if (seals < 0 || (seals & all_seals) != all_seals || ::fstat(descriptor, &status) != 0) {
    return Error{ErrorKind::system, "the descriptor is no sealed memory"};
  }
  if (static_cast<std::uint64_t>(status.st_size) > limit)
    return Error{ErrorKind::system, "the sealed memory is too long"};
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return refused("cannot read sealed memory");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace forklift
