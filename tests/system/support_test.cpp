// The tests' own tools: a check that finds nothing proves nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "tests/support/child_command.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/process_runner.hpp"
#include "tests/support/temporary_directory.hpp"
#include "worker/descriptor.hpp"

namespace forklift::support {
namespace {

class TestTools : public LeakChecked {};

TEST_F(TestTools, LeakCheck_FindsWhatIsLeft) {
  const Belongings before = look_at_belongings();
  EXPECT_TRUE(differences(before, look_at_belongings()).empty());
  {
    const Descriptor open(::dup(STDOUT_FILENO));
    const TemporaryDirectory directory;
    const pid_t ended = ::fork();
    if (ended == 0) ::_exit(0);
    EXPECT_EQ(differences(before, look_at_belongings()).size(), 3U);
    ::waitpid(ended, nullptr, 0);
  }
  EXPECT_TRUE(differences(before, look_at_belongings()).empty());
}

TEST_F(TestTools, SharedMemory_IsLeftIfNobodyUsesIt) {
  const Belongings before = look_at_belongings();
  const std::string name = "/" + new_marker();
  Descriptor used(::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  if (!used.valid()) GTEST_SKIP() << "no shared memory on this machine";
  EXPECT_EQ(differences(before, look_at_belongings()).size(), 1U) << "the descriptor only";
  used.close();
  EXPECT_EQ(differences(before, look_at_belongings()).size(), 1U) << "the object only";
  ::shm_unlink(name.c_str());
}

TEST_F(TestTools, Runner_SeesTheWayOfEnding) {
  const Ended exited = run({.argv = child("exit", {"7"})});
  EXPECT_EQ(exited.exit_code, 7);
  EXPECT_FALSE(exited.signal);
  const Ended killed = run({.argv = child("raise-without-core", {"SEGV"})});
  EXPECT_EQ(killed.signal, SIGSEGV);
  EXPECT_FALSE(killed.exit_code);
  EXPECT_EQ(run({.argv = {"/nonexistent"}}).exit_code, 127);
}

TEST_F(TestTools, Runner_KeepsStreamsApart) {
  const Ended ended = run({.argv = child("print", {"to out", "to err"})});
  EXPECT_EQ(ended.out, "to out");
  EXPECT_EQ(ended.err, "to err");
}

TEST_F(TestTools, Runner_GivesInputEnvironmentAndDirectory) {
  const TemporaryDirectory directory;
  Command command{.argv = child("print-env", {"SET_HERE", "HOME"}), .unset = {"HOME"}};
  command.environment["SET_HERE"] = "yes";
  EXPECT_EQ(run(command).out, "SET_HERE=yes\nHOME is not set\n");
  EXPECT_EQ(run({.argv = child("print-cwd"), .working_directory = directory.path()}).out,
            directory.path().string() + "\n");

  RunningProcess echo({.argv = child("echo"), .input = Input::pipe});
  echo.write_input("hello");
  EXPECT_TRUE(echo.wait_for_out("hello"));
  echo.close_input();
  EXPECT_EQ(echo.wait().exit_code, 0);
}

TEST_F(TestTools, Runner_StartsWithTheStandardDescriptorsOnly) {
  const std::string descriptors = run({.argv = child("print-fds")}).out;
  EXPECT_TRUE(descriptors.starts_with("0 /dev/null\n1 pipe:")) << descriptors;
  EXPECT_EQ(std::count(descriptors.begin(), descriptors.end(), '\n'), 3) << descriptors;
  EXPECT_EQ(run({.argv = child("print-fds"), .input = Input::closed}).out.front(), '1');
}

TEST_F(TestTools, Runner_GivesATerminal) {
  RunningProcess program({.argv = child("print-terminal"), .streams = Streams::terminal});
  EXPECT_EQ(program.wait().out, "terminal\r\nterminal\r\nterminal\r\n");
  RunningProcess held({.argv = child("report-signals", {"INT"}), .streams = Streams::terminal});
  ASSERT_TRUE(held.wait_for_out("ready"));
  held.write_input("\x03");
  EXPECT_TRUE(held.wait_for_out("got INT"));
  EXPECT_EQ(held.wait().exit_code, 0);
}

TEST_F(TestTools, Runner_IgnoredSignalsAreInherited) {
  EXPECT_EQ(run({.argv = child("print-signals"), .ignored_signals = {SIGHUP}}).out,
            "ignored " + std::to_string(SIGHUP) + "\n");
}

TEST_F(TestTools, Marker_FindsTheProcessAndItsOrphans) {
  const std::string marker = new_marker();
  EXPECT_TRUE(marked_processes(marker).empty());
  Command command{.argv = child("grandchild-holds-pipe"), .input = Input::pipe};
  command.environment["FORKLIFT_TEST_MARKER"] = marker;
  RunningProcess program(command);
  EXPECT_EQ(program.wait_for_exit().exit_code, 0);
  EXPECT_TRUE(marked_count_is(marker, 1).as_expected) << marked_count_is(marker, 1).description;
  program.close_input();
  EXPECT_EQ(program.wait().out, "ready\n");
  EXPECT_TRUE(eventually([&] { return marked_count_is(marker, 0); }));
}

TEST_F(TestTools, Eventually_TellsWhatItSawLast) {
  int looks = 0;
  EXPECT_TRUE(eventually([&] { return ++looks == 3; }));
  const auto never = eventually(
      [&] {
        return Seen{false, "look " + std::to_string(++looks)};
      },
      std::chrono::milliseconds(0));
  EXPECT_FALSE(never);
  EXPECT_NE(std::string(never.message()).find("look 4"), std::string::npos) << never.message();
}

}  // namespace
}  // namespace forklift::support
