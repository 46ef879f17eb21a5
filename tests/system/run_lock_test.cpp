// The lock that says whether a run goes on: seen from another process, since nobody is in the way of its own.
#include "launcher/system/run_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

class RunLock : public support::LeakChecked {
 protected:
  /// A process that holds the lock of `events` and, if it shall, has a child that inherits the descriptor.
  class Holder {
   public:
    explicit Holder(const std::string& events) {
      int ready[2];
      int leave[2];
      EXPECT_EQ(::pipe2(static_cast<int*>(ready), O_CLOEXEC), 0);
      EXPECT_EQ(::pipe2(static_cast<int*>(leave), O_CLOEXEC), 0);
      pid_ = ::fork();
      if (pid_ == 0) {
        ::close(leave[1]);
        const int file = ::open(events.c_str(), O_WRONLY | O_CLOEXEC);
        hold_run_lock(file);
        const pid_t heir = ::fork();  // Has the descriptor, and outlives its parent.
        char byte = 0;
        if (heir != 0) {
          [[maybe_unused]] const auto told = ::write(ready[1], &heir, sizeof heir);
          ::pause();
        }
        ::close(ready[1]);
        [[maybe_unused]] const auto waited = ::read(leave[0], &byte, 1);
        ::_exit(0);
      }
      ::close(ready[1]);
      ::close(leave[0]);
      leave_ = Descriptor(leave[1]);
      EXPECT_EQ(::read(ready[0], &heir_, sizeof heir_), static_cast<ssize_t>(sizeof heir_));
      ::close(ready[0]);
    }
    void kill() const {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ~Holder() {
      leave_.close();
      ::waitpid(heir_, nullptr, 0);
    }

   private:
    pid_t pid_ = 0;
    pid_t heir_ = 0;
    Descriptor leave_;
  };

  support::TemporaryDirectory scratch_;
};

TEST_F(RunLock, NobodyHoldsIt_TheRunHasEnded) {
  scratch_.write("events.jsonl", "");
  EXPECT_EQ(holder_of_run(scratch_.path()).life, RunLife::ended);
}

TEST_F(RunLock, NoEvents_NobodyCanTell) { EXPECT_EQ(holder_of_run(scratch_.path()).life, RunLife::unknown); }

TEST_F(RunLock, HolderLives_ItsParentIsTheLauncher) {
  const Holder holder(scratch_.write("events.jsonl", ""));
  const RunHolder seen = holder_of_run(scratch_.path());
  EXPECT_EQ(seen.life, RunLife::running);
  EXPECT_EQ(seen.launcher_pid, ::getpid());
  holder.kill();
}

TEST_F(RunLock, HolderIsKilledAndAForkOfItLives_TheRunHasEnded) {
  const Holder holder(scratch_.write("events.jsonl", ""));
  holder.kill();
  EXPECT_EQ(holder_of_run(scratch_.path()).life, RunLife::ended);
}

}  // namespace
}  // namespace forklift
