#include "launcher/system/memory_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <tuple>

#include "launcher/system/host_facts_reader.hpp"
#include "tests/support/leak_check.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

constexpr std::size_t size = std::size_t{32} << 20U;
constexpr std::uint64_t nearly = size - size / 8;

/// Memory that has been written to.
class Mapping {
 public:
  explicit Mapping(int flags) : address_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(address_, MAP_FAILED);
    std::memset(address_, 'x', size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(address_, size); }

 private:
  void* address_;
};

/// A forked child that lives until this object's end.
class Child {
 public:
  Child() {
    int hold[2];
    EXPECT_EQ(::pipe2(hold, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(hold[1]);
      char byte = 0;
      std::ignore = ::read(hold[0], &byte, 1);
      ::_exit(0);
    }
    ::close(hold[0]);
    hold_ = Descriptor(hold[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    hold_.close();
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  Descriptor hold_;
};

class MemoryReader : public support::LeakChecked {};

TEST_F(MemoryReader, UsableMemory_IsNoMoreThanTheMachineHas) {
  const std::uint64_t usable = read_usable_memory();
  EXPECT_GT(usable, 0U);
  const HostFacts facts = read_host_facts();
  EXPECT_LT(usable, facts.memory_total_bytes);
  if (facts.memory_limit_bytes) {
    EXPECT_LE(usable, *facts.memory_limit_bytes);
    ASSERT_TRUE(facts.memory_limit_room_bytes);
    EXPECT_LE(*facts.memory_limit_room_bytes, *facts.memory_limit_bytes);
  }
}

TEST_F(MemoryReader, OwnWrittenMemory_IsCounted) {
  const std::uint64_t before = read_anonymous_memory(::getpid()).value();
  const Mapping mapping(MAP_PRIVATE);
  EXPECT_GE(read_anonymous_memory(::getpid()).value() - before, nearly);
}

TEST_F(MemoryReader, SharedMemory_IsNotAnybodysOwn) {
  const std::uint64_t before = read_anonymous_memory(::getpid()).value();
  const Mapping mapping(MAP_SHARED);
  EXPECT_LT(read_anonymous_memory(::getpid()).value(), before + size / 2);
}

TEST_F(MemoryReader, PagesSharedSinceAFork_CountInBoth) {
  const Mapping mapping(MAP_PRIVATE);
  const Child child;
  EXPECT_GE(read_anonymous_memory(child.pid()).value(), nearly);
}

TEST_F(MemoryReader, ProcessThatIsGone_IsNothing) {
  pid_t gone = 0;
  {
    const Child child;
    gone = child.pid();
  }
  EXPECT_FALSE(read_anonymous_memory(gone));
}

}  // namespace
}  // namespace forklift
