#include "launcher/supervise/event_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "launcher/system/run_lock.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

class EventWriting : public support::LeakChecked {
 protected:
  const support::TemporaryDirectory run_;
};

TEST_F(EventWriting, DiskIsFull_TheRunIsStillSeenToGoOn) {
  std::filesystem::create_symlink("/dev/full", run_ / "events.jsonl");
  int ready[2];
  ASSERT_EQ(::pipe2(static_cast<int*>(ready), O_CLOEXEC), 0);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    boost::asio::io_context io;
    EventWriter events(io, run_.path().string());
    events.add(RunEvent::of(RunEventKind::run_started));
    events.flush();
    const char refused = events.problem().empty() ? 'n' : 'y';
    [[maybe_unused]] const auto told = ::write(ready[1], &refused, 1);
    ::pause();
  }
  const Descriptor end(ready[0]);
  ::close(ready[1]);
  char refused = '?';
  EXPECT_EQ(::read(end.get(), &refused, 1), 1);
  EXPECT_EQ(refused, 'y');
  EXPECT_EQ(holder_of_run(run_.path()).life, RunLife::running);
  ::kill(supervisor, SIGKILL);
  ::waitpid(supervisor, nullptr, 0);
  EXPECT_EQ(holder_of_run(run_.path()).life, RunLife::ended);
}

}  // namespace
}  // namespace forklift
