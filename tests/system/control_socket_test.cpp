// Control messages over real sockets: descriptors, the sender's pid, memory, and packets of strangers.
#include "worker/control_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/leak_check.hpp"

namespace forklift {
namespace {

constexpr auto non_blocking = ControlSocket::Mode::non_blocking;

bool closes_on_exec(int descriptor) { return (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0; }

ino_t inode_of(int descriptor) {
  struct stat status {};
  EXPECT_EQ(::fstat(descriptor, &status), 0);
  return status.st_ino;
}

Descriptor null_device() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

/// A memfd with these bytes and seals.
Descriptor memory_with(std::string_view bytes, int seals) {
  Descriptor memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::write(memory.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(::fcntl(memory.get(), F_ADD_SEALS, seals), 0);
  return memory;
}

constexpr int all_seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;

class ControlSockets : public support::LeakChecked {
 protected:
  ControlSockets() {
    auto pair = ControlSocket::make_pair();
    EXPECT_TRUE(pair);
    here = std::move(pair.value().first);
    there = std::move(pair.value().second);
  }

  /// A packet that encode() would never make.
  void send_raw(std::string_view bytes) const {
    ASSERT_EQ(::send(here.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  /// What `child` returns is its exit status; the other ends are closed in neither.
  static int in_child(const std::function<int()>& child) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(child());
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  ControlSocket here;
  ControlSocket there;
  Arrived arrived;
};

// ---- messages -----------------------------------------------------------------------------------------------------

TEST_F(ControlSockets, Pair_ClosesOnExec) {
  EXPECT_TRUE(closes_on_exec(here.get()));
  EXPECT_TRUE(closes_on_exec(there.get()));
}

TEST_F(ControlSockets, Messages_ArriveInOrderEachByItself) {
  ASSERT_TRUE(here.send(control::Forked{Attempt{1}}));
  ASSERT_TRUE(here.send(control::Go{4711}));
  ASSERT_EQ(there.receive(arrived), Arrival::message);
  EXPECT_EQ(std::get<control::Forked>(arrived.message).attempt, Attempt{1});
  ASSERT_EQ(there.receive(arrived), Arrival::message);
  EXPECT_EQ(std::get<control::Go>(arrived.message).supervisor, 4711);
  EXPECT_TRUE(arrived.descriptors.empty());
}

TEST_F(ControlSockets, Sender_IsTheProcessThatSent) {
  ASSERT_TRUE(here.send(control::InMemory{}));  // That of an attacker: it names a memory that does not come.
  EXPECT_EQ(there.receive(arrived), Arrival::foreign);

  ASSERT_TRUE(here.send(control::Go{1}));
  ASSERT_EQ(there.receive(arrived), Arrival::message);
  EXPECT_EQ(arrived.sender, ::getpid());

  const pid_t child = ::fork();
  if (child == 0) ::_exit(there.send(control::Hello{Attempt{0}, Rank{5}}) ? 0 : 1);
  ASSERT_EQ(here.receive(arrived), Arrival::message);
  EXPECT_EQ(arrived.sender, child);
  EXPECT_EQ(std::get<control::Hello>(arrived.message).rank, Rank{5});
  ::waitpid(child, nullptr, 0);
}

TEST_F(ControlSockets, Descriptors_ArriveInOrderAndCloseOnExec) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // Not close-on-exec at this side.
  const Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  const Descriptor null = null_device();
  const std::array<int, 4> sent{null.get(), reader.get(), writer.get(), reader.get()};
  ASSERT_TRUE(here.send(control::Go{1}, sent));
  ASSERT_EQ(there.receive(arrived), Arrival::message);
  ASSERT_EQ(arrived.descriptors.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_NE(arrived.descriptors[i].get(), sent[i]);
    EXPECT_TRUE(closes_on_exec(arrived.descriptors[i].get())) << i;
    EXPECT_EQ(inode_of(arrived.descriptors[i].get()), inode_of(sent[i])) << i;
  }
  EXPECT_GE(::fcntl(reader.get(), F_GETFD), 0) << "they stay the sender's";
}

TEST_F(ControlSockets, DescriptorsOfTheLastPacket_AreClosedByTheNext) {
  const Descriptor null = null_device();
  const std::array<int, 1> sent{null.get()};
  ASSERT_TRUE(here.send(control::Go{1}, sent));
  ASSERT_TRUE(here.send(control::Go{2}));
  ASSERT_EQ(there.receive(arrived), Arrival::message);
  const int number = arrived.descriptors.at(0).get();
  ASSERT_EQ(there.receive(arrived), Arrival::message);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  EXPECT_TRUE(arrived.descriptors.empty());
}

// ---- memory -------------------------------------------------------------------------------------------------------

control::ForkGroup group_with_environment_of(std::size_t bytes) {
  return {Attempt{0}, 1, 4711, {{"BLOB", std::string(bytes, 'x')}}, {}};
}

TEST_F(ControlSockets, MessageOfAnyLength_Arrives) {
  const std::size_t overhead = control::encode(group_with_environment_of(0)).size();
  for (const std::size_t length : {control::largest_packet - 1, control::largest_packet, control::largest_packet + 1,
                                   std::size_t{1} << 20, std::size_t{8} << 20}) {
    const auto group = group_with_environment_of(length - overhead);
    ASSERT_EQ(control::encode(group).size(), length);
    const Descriptor null = null_device();
    const std::array<int, 2> sent{null.get(), here.get()};
    ASSERT_TRUE(here.send(group, sent)) << length;
    ASSERT_EQ(there.receive(arrived), Arrival::message) << length;
    EXPECT_EQ(std::get<control::ForkGroup>(arrived.message).set.at(0).value.size(), length - overhead);
    ASSERT_EQ(arrived.descriptors.size(), 2U) << "the memory is not among them";
    EXPECT_EQ(inode_of(arrived.descriptors[0].get()), inode_of(null.get()));
    EXPECT_EQ(inode_of(arrived.descriptors[1].get()), inode_of(here.get()));
    EXPECT_EQ(arrived.sender, ::getpid());
  }
}

TEST_F(ControlSockets, MemoryThatCouldChange_IsForeign) {
  const std::string packet = control::encode(control::InMemory{});
  const std::string message = control::encode(control::Go{1});
  for (const int seals : {0, F_SEAL_WRITE | F_SEAL_GROW, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_WRITE | F_SEAL_SHRINK}) {
    const Descriptor memory = memory_with(message, seals);
    const std::array<int, 1> sent{memory.get()};
    ASSERT_TRUE(here.send(control::InMemory{}, sent));
    EXPECT_EQ(there.receive(arrived), Arrival::foreign) << seals;
  }
  const Descriptor sealed = memory_with(message, all_seals);
  const std::array<int, 1> sent{sealed.get()};
  ASSERT_TRUE(here.send(control::InMemory{}, sent));
  EXPECT_EQ(there.receive(arrived), Arrival::message);
}

TEST_F(ControlSockets, WhatIsNoMessageInMemory_IsForeign) {
  const Descriptor null = null_device();
  const Descriptor rubbish = memory_with("rubbish", all_seals);
  const Descriptor empty = memory_with("", all_seals);
  const Descriptor twice = memory_with(control::encode(control::InMemory{}), all_seals);
  for (const int descriptor : {null.get(), rubbish.get(), empty.get(), here.get()}) {
    const std::array<int, 1> sent{descriptor};
    ASSERT_TRUE(here.send(control::InMemory{}, sent));
    EXPECT_EQ(there.receive(arrived), Arrival::foreign);
  }
  const std::array<int, 1> sent{twice.get()};
  ASSERT_TRUE(here.send(control::InMemory{}, sent));
  EXPECT_EQ(there.receive(arrived), Arrival::foreign) << "a memory that announces another";
}

// ---- strangers ----------------------------------------------------------------------------------------------------

TEST_F(ControlSockets, PacketsOfStrangers_AreThrownAwayOneByOne) {
  send_raw("hello\n");
  send_raw(R"({"v":2,"type":"go","supervisor":1})");
  send_raw(std::string(1000, '\0'));
  ASSERT_TRUE(here.send(control::Go{7}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(there.receive(arrived), Arrival::foreign);
  ASSERT_EQ(there.receive(arrived), Arrival::message);
  EXPECT_EQ(std::get<control::Go>(arrived.message).supervisor, 7);
}

TEST_F(ControlSockets, PacketThatIsTooLong_IsForeignAndGoneAsAWhole) {
  std::string packet = control::encode(control::Go{1});
  packet.resize(control::largest_packet, ' ');
  send_raw(packet);
  send_raw(packet + "  ");
  ASSERT_TRUE(here.send(control::Go{2}));
  EXPECT_EQ(there.receive(arrived), Arrival::message) << "just so long as it may be";
  EXPECT_EQ(there.receive(arrived), Arrival::foreign);
  ASSERT_EQ(there.receive(arrived), Arrival::message);
  EXPECT_EQ(std::get<control::Go>(arrived.message).supervisor, 2);
}

TEST_F(ControlSockets, MoreDescriptorsThanAnybodySends_AreForeignAndClosed) {
  const Descriptor null = null_device();
  const std::vector<int> many(100, null.get());
  std::string packet = control::encode(control::Go{1});
  iovec part{packet.data(), packet.size()};
  std::vector<char> ancillary(CMSG_SPACE(many.size() * sizeof(int)));
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary.data();
  header.msg_controllen = ancillary.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(many.size() * sizeof(int));
  std::memcpy(CMSG_DATA(rights), many.data(), many.size() * sizeof(int));
  ASSERT_GT(::sendmsg(here.get(), &header, MSG_NOSIGNAL), 0);
  EXPECT_EQ(there.receive(arrived), Arrival::foreign);
  EXPECT_EQ(there.receive(arrived, non_blocking), Arrival::nothing);  // What had come was closed: the leak check.
}

// The receiver has no number left for the descriptors of a packet.
TEST_F(ControlSockets, ReceiverWithoutFreeDescriptors_HasAForeignPacket) {
  const Descriptor null = null_device();
  const std::array<int, 4> sent{null.get(), null.get(), null.get(), null.get()};
  ASSERT_TRUE(here.send(control::Go{1}, sent));
  const int code = in_child([&] {
    std::vector<Descriptor> filled;
    do {
      filled.emplace_back(::dup(null.get()));
    } while (filled.back().valid());
    filled.resize(filled.size() - 3);  // The last is not valid, so two numbers are free.
    const Arrival arrival = there.receive(arrived);
    return arrival == Arrival::foreign && arrived.descriptors.size() <= 2 ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}

// ---- ends ---------------------------------------------------------------------------------------------------------

TEST_F(ControlSockets, ClosedPeer_IsClosedAfterWhatItHadSent) {
  ASSERT_TRUE(here.send(control::Go{1}));
  here.close();
  EXPECT_EQ(there.receive(arrived), Arrival::message);
  EXPECT_EQ(there.receive(arrived), Arrival::closed);
  EXPECT_EQ(there.receive(arrived, non_blocking), Arrival::closed);
  const auto sent = there.send(control::Go{1});  // SIGPIPE would end this test.
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().os_errno, EPIPE);
}

TEST_F(ControlSockets, NothingThere_NonBlockingSaysSo) {
  EXPECT_EQ(there.receive(arrived, non_blocking), Arrival::nothing);
  ASSERT_TRUE(here.send(control::Go{1}));
  EXPECT_EQ(there.receive(arrived, non_blocking), Arrival::message);
  EXPECT_EQ(there.receive(arrived, non_blocking), Arrival::nothing);
}

TEST_F(ControlSockets, NonBlockingAndFull_IsEagainAndNothingIsLost) {
  int sent = 0;
  Result<void> result;
  for (; sent < 1'000'000 && (result = here.send(control::Go{sent + 1}, {}, non_blocking)); ++sent) {
  }
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().os_errno, EAGAIN);
  EXPECT_GT(sent, 0);
  for (int i = 0; i < sent; ++i) {
    ASSERT_EQ(there.receive(arrived, non_blocking), Arrival::message) << i;
    ASSERT_EQ(std::get<control::Go>(arrived.message).supervisor, i + 1);
  }
  EXPECT_EQ(there.receive(arrived, non_blocking), Arrival::nothing);
  EXPECT_TRUE(here.send(control::Go{1}, {}, non_blocking));
}

TEST_F(ControlSockets, NoSocketAtAll_IsAnErrorAndClosed) {
  const ControlSocket none;
  EXPECT_FALSE(none.valid());
  EXPECT_FALSE(none.send(control::Go{1}));
  EXPECT_EQ(none.receive(arrived), Arrival::closed);
}

// ---- sealed memory ------------------------------------------------------------------------------------------------

using SealedMemory = support::LeakChecked;

TEST_F(SealedMemory, Bytes_ReadBackAndCannotBeChanged) {
  for (const std::string& bytes : {std::string(), std::string("one\0two", 7), std::string(3'000'000, 'z')}) {
    const auto memory = sealed_memory("test", bytes);
    ASSERT_TRUE(memory);
    EXPECT_TRUE(closes_on_exec(memory.value().get()));
    EXPECT_EQ(::pwrite(memory.value().get(), "x", 1, 0), -1);
    EXPECT_EQ(::ftruncate(memory.value().get(), 10'000'000), -1);
    const auto read = read_sealed_memory(memory.value().get(), bytes.size());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read.value(), bytes);
    EXPECT_EQ(read_sealed_memory(memory.value().get(), bytes.size() + 1).value(), bytes) << "from its beginning again";
  }
}

TEST_F(SealedMemory, LongerThanTheLimit_IsRefused) {
  const auto memory = sealed_memory("test", "four");
  ASSERT_TRUE(memory);
  const auto read = read_sealed_memory(memory.value().get(), 3);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "the sealed memory is too long");
}

TEST_F(SealedMemory, WhatIsNotSealed_IsRefused) {
  const Descriptor unsealed = memory_with("text", 0);
  const Descriptor null = null_device();
  for (const int descriptor : {unsealed.get(), null.get(), -1}) {
    const auto read = read_sealed_memory(descriptor, 100);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, "the descriptor is no sealed memory");
  }
}

}  // namespace
}  // namespace forklift
