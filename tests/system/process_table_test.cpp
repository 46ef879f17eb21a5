#include "launcher/system/process_table.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "tests/support/child_command.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/process_runner.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

using support::child;
using support::Command;
using support::eventually;
using support::Input;
using support::marked_count_is;
using support::RunningProcess;
using support::Seen;
using support::TemporaryDirectory;

std::vector<int> pids_of(const std::vector<ProcessEntry>& entries) {
  std::vector<int> pids;
  for (const ProcessEntry& entry : entries) pids.push_back(entry.pid);
  std::sort(pids.begin(), pids.end());
  return pids;
}

bool contains(const std::vector<ProcessEntry>& entries, int pid) {
  return std::any_of(entries.begin(), entries.end(), [pid](const ProcessEntry& entry) { return entry.pid == pid; });
}

/// The state letter of a process in a look that is made for it; '-' if it is not there.
char state_of(int pid) {
  for (const ProcessEntry& entry : read_process_table()) {
    if (entry.pid == pid) return entry.state;
  }
  return '-';
}

Seen state_is(int pid, char expected) {
  const char state = state_of(pid);
  return {state == expected, std::string("state ") + state};
}

class ProcessTable : public support::LeakChecked {};

TEST_F(ProcessTable, ThisProcess_IsInIt) {
  const auto table = read_process_table();
  const auto self =
      std::find_if(table.begin(), table.end(), [](const ProcessEntry& entry) { return entry.pid == ::getpid(); });
  ASSERT_NE(self, table.end());
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_EQ(self->state, 'R');
  EXPECT_GT(self->start_time, 0U);
  EXPECT_FALSE(self->name.empty());
}

TEST_F(ProcessTable, NameThatLooksLikeFields_IsReadWhole) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_NAME, ") Z 1 (a\nb");
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(pid, nullptr, WUNTRACED), pid);
  const auto ours = descendants_of(::getpid());
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ASSERT_EQ(ours.size(), 1U);
  EXPECT_EQ(ours.front().name, ") Z 1 (a\nb");
  EXPECT_EQ(ours.front().parent, ::getpid());
  EXPECT_EQ(ours.front().state, 'T');
}

TEST_F(ProcessTable, Descendants_AreAllGenerationsAndNobodyElse) {
  const std::vector<ProcessEntry> table{{1, 0, 'S', 1, "init"},      {10, 1, 'S', 2, "us"},
                                        {11, 10, 'S', 3, "child"},   {5, 11, 'Z', 9, "grandchild"},
                                        {12, 1, 'S', 4, "stranger"}, {13, 12, 'S', 5, "theirs"}};
  EXPECT_EQ(pids_of(descendants_of(10, table)), (std::vector<int>{5, 11}));
  EXPECT_TRUE(descendants_of(5, table).empty());
  EXPECT_TRUE(descendants_of(99, table).empty());
}

TEST_F(ProcessTable, Command_IsOneShortLine) {
  const std::string text(300, 'w');
  RunningProcess program({.argv = {"/bin/sh", "-c", "read line\n# \x01\xc3\xa4 " + text}, .input = Input::pipe});
  ASSERT_TRUE(eventually([&] {
    return Seen{command_of(program.pid()).starts_with("/bin/sh"), command_of(program.pid())};
  }));
  const std::string command = command_of(program.pid());
  EXPECT_TRUE(command.starts_with("/bin/sh -c read line #  \xc3\xa4 wwww")) << command;
  EXPECT_EQ(command.size(), 200U);
  program.close_input();
  program.wait();
  EXPECT_EQ(command_of(program.pid()), "");
}

TEST_F(ProcessTable, CommandThatWouldEndInsideACharacter_EndsBeforeIt) {
  std::string text(200 - std::string("/bin/sh -c read x # ").size() - 1, 'w');
  RunningProcess program({.argv = {"/bin/sh", "-c", "read x # " + text + "\xc3\xa4"}, .input = Input::pipe});
  ASSERT_TRUE(eventually([&] { return Seen{command_of(program.pid()).ends_with("ww"), command_of(program.pid())}; }));
  EXPECT_EQ(command_of(program.pid()).size(), 199U);
  program.close_input();
  program.wait();
}

TEST_F(ProcessTable, ChildrenOfSelf_AreNamedForEver) {
  EXPECT_TRUE(children_of_self().empty());
  RunningProcess program({.argv = child("hold"), .input = Input::pipe});
  const auto children = children_of_self();
  ASSERT_EQ(children.size(), 1U);
  EXPECT_EQ(children.begin()->pid, program.pid());
  EXPECT_EQ(children, children_of_self());
  program.close_input();
  program.wait();
}

// ---- single processes ---------------------------------------------------------------------------------------------

TEST_F(ProcessTable, Identity_IsThatOfTheTable) {
  RunningProcess program({.argv = child("hold"), .input = Input::pipe});
  const auto identity = identity_of(program.pid());
  ASSERT_TRUE(identity);
  EXPECT_EQ(std::set<ProcessIdentity>{*identity}, children_of_self());
  EXPECT_EQ(identity_of(program.pid()), identity);
  EXPECT_NE(identity_of(::getpid()), identity);
  program.close_input();
  program.wait();
  EXPECT_EQ(identity_of(program.pid()), std::nullopt);
}

TEST_F(ProcessTable, IdentityOfAZombie_IsStillThere) {
  RunningProcess program({.argv = child("hold"), .input = Input::pipe});
  const auto identity = identity_of(program.pid());
  program.send(SIGKILL);
  ASSERT_TRUE(eventually([&] { return state_is(program.pid(), 'Z'); }));
  EXPECT_EQ(identity_of(program.pid()), identity);
}

TEST_F(ProcessTable, IdentityOfNobody_IsEmpty) {
  for (const int pid : {0, -1, 0x7fffffff}) EXPECT_EQ(identity_of(pid), std::nullopt) << pid;
}

TEST_F(ProcessTable, ListedChildren_AreOursZombiesIncludedAndNoGrandchildren) {
  ASSERT_TRUE(listed_children()) << "this kernel does not list children";
  EXPECT_TRUE(listed_children()->empty());
  RunningProcess running({.argv = child("hold"), .input = Input::pipe});
  RunningProcess family({.argv = child("child-then-hold")});
  ASSERT_TRUE(family.wait_for_out("ready"));
  RunningProcess dead({.argv = child("hold"), .input = Input::pipe});
  dead.send(SIGKILL);
  ASSERT_TRUE(eventually([&] { return state_is(dead.pid(), 'Z'); }));
  auto listed = *listed_children();
  std::sort(listed.begin(), listed.end());
  std::vector<int> expected{running.pid(), family.pid(), dead.pid()};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(listed, expected);
  running.close_input();
  running.wait();
  dead.wait();
  EXPECT_EQ(*listed_children(), std::vector<int>{family.pid()});
  family.send_to_group(SIGKILL);
  family.wait();
}

TEST_F(ProcessTable, ResidentBytes_GrowWithWhatIsTouched) {
  constexpr std::size_t size = std::size_t{64} << 20;
  const std::uint64_t before = resident_bytes(::getpid());
  EXPECT_GT(before, 0U);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, size);
  EXPECT_GE(resident_bytes(::getpid()), before + size / 2);
  ::munmap(memory, size);
  EXPECT_EQ(resident_bytes(0x7fffffff), 0U);
}

/// Every test starts a family of processes that carry its marker, and in the end there is none, anywhere.
class EndDescendants : public support::LeakChecked {
 protected:
  EndDescendants() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~EndDescendants() override {
    EXPECT_TRUE(eventually([this] { return marked_count_is(marker_, 0); }));
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  /// Started, and past its "ready".
  std::unique_ptr<RunningProcess> start_ready(std::vector<std::string> argv) const {
    Command command{.argv = std::move(argv)};
    command.environment["FORKLIFT_TEST_MARKER"] = marker_;
    auto program = std::make_unique<RunningProcess>(command);
    EXPECT_TRUE(program->wait_for_out("ready"));
    return program;
  }

  [[nodiscard]] const std::string& marker() const { return marker_; }
  const TemporaryDirectory directory_;

 private:
  const std::string marker_ = support::new_marker();
};

constexpr int enough_ms = 30000;

TEST_F(EndDescendants, NoChildren_IsDoneAtOnce) { EXPECT_TRUE(end_descendants({}, enough_ms).empty()); }

TEST_F(EndDescendants, EveryKindOfFamily_IsEnded) {
  const std::string pid_file = directory_ / "daemon.pid";
  const struct {
    const char* what;
    std::vector<std::string> argv;
    std::size_t processes;
  } table[] = {
      {"one that ignores politeness", child("block", {"TERM", "INT", "HUP", "QUIT"}), 1},
      {"a child of a child", child("child-then-hold"), 2},
      {"a session of its own", child("setsid-child"), 2},
      {"a daemon", child("daemonize", {pid_file}), 2},
      {"a daemon whose starter has gone", child("daemonize", {pid_file, "leave"}), 1},
      {"a tree of 64", child("tree", {"6"}), 64},
      {"a process without its first thread", child("outlive-first-thread"), 1},
  };
  for (const auto& row : table) {
    const auto program = start_ready(row.argv);
    EXPECT_TRUE(eventually([&] { return marked_count_is(marker(), row.processes); })) << row.what;
    const auto left = end_descendants({}, enough_ms);
    EXPECT_EQ(pids_of(left), std::vector<int>{}) << row.what;
    EXPECT_TRUE(marked_count_is(marker(), 0).as_expected) << row.what;
  }
}

TEST_F(EndDescendants, StoppedProcess_IsEnded) {
  const auto program = start_ready(child("stop-self"));
  ASSERT_TRUE(eventually([&] { return state_is(program->pid(), 'T'); }));
  EXPECT_TRUE(end_descendants({}, enough_ms).empty());
}

TEST_F(EndDescendants, Zombie_IsReaped) {
  const auto program = start_ready(child("ready-then-hold"));
  program->send(SIGKILL);
  ASSERT_TRUE(eventually([&] { return state_is(program->pid(), 'Z'); }));
  EXPECT_TRUE(end_descendants({}, 0).empty());
}

TEST_F(EndDescendants, ForkStorm_IsOutrun) {
  for (const char* kind : {"one group", "sessions"}) {
    const auto program = start_ready(child("fork-storm", {"3", kind}));
    EXPECT_EQ(pids_of(end_descendants({}, enough_ms)), std::vector<int>{}) << kind;
    EXPECT_TRUE(marked_count_is(marker(), 0).as_expected) << kind;
  }
}

TEST_F(EndDescendants, Spared_LiveOnWithTheirOwn) {
  const auto spared = start_ready(child("child-then-hold"));
  const auto before = children_of_self();
  ASSERT_EQ(before.size(), 1U);
  const auto theirs = descendants_of(spared->pid());
  ASSERT_EQ(theirs.size(), 1U);
  const auto ended = start_ready(child("child-then-hold"));

  EXPECT_TRUE(end_descendants(before, enough_ms).empty());
  EXPECT_EQ(children_of_self(), before);
  EXPECT_TRUE(contains(read_process_table(), theirs.front().pid));
  EXPECT_EQ(state_of(ended->pid()), '-');
  EXPECT_TRUE(end_descendants({}, enough_ms).empty());
}

TEST_F(EndDescendants, SparedThatHasEnded_IsNotReaped) {
  const auto spared = start_ready(child("ready-then-hold"));
  const auto before = children_of_self();
  spared->send(SIGKILL);
  ASSERT_TRUE(eventually([&] { return state_is(spared->pid(), 'Z'); }));
  EXPECT_TRUE(end_descendants(before, enough_ms).empty());
  EXPECT_EQ(spared->wait().signal, SIGKILL) << "its status is still there for whoever started it";
}

// ---- one walk, and nobody is reaped -------------------------------------------------------------------------------

using KillDescendants = EndDescendants;

TEST_F(KillDescendants, EveryKindOfFamily_IsKilledAndLeftAsZombies) {
  const auto program = start_ready(child("setsid-child"));
  EXPECT_TRUE(eventually([&] { return marked_count_is(marker(), 2); }));
  const auto met = kill_descendants({});
  EXPECT_EQ(met.size(), 2U);
  EXPECT_TRUE(contains(met, program->pid()));
  ASSERT_TRUE(eventually([&] { return state_is(program->pid(), 'Z'); }));
  EXPECT_EQ(program->wait().signal, SIGKILL) << "its status is still there";
  EXPECT_TRUE(eventually([&] { return marked_count_is(marker(), 0); }));
  EXPECT_TRUE(end_descendants({}, enough_ms).empty());
}

TEST_F(KillDescendants, Spared_LiveOnWithTheirOwn) {
  const auto spared = start_ready(child("setsid-child"));
  const auto identity = identity_of(spared->pid());
  ASSERT_TRUE(identity);
  const auto theirs = descendants_of(spared->pid());
  ASSERT_EQ(theirs.size(), 1U);
  const auto ended = start_ready(child("child-then-hold"));

  const auto met = kill_descendants({*identity});
  EXPECT_EQ(met.size(), 2U);
  EXPECT_FALSE(contains(met, spared->pid()));
  EXPECT_FALSE(contains(met, theirs.front().pid));
  EXPECT_EQ(ended->wait().signal, SIGKILL);
  EXPECT_EQ(state_of(spared->pid()), 'S');
  EXPECT_EQ(state_of(theirs.front().pid), 'S');
  EXPECT_TRUE(end_descendants({}, enough_ms).empty());
}

// The walk is repeated until it meets nobody: the second one must not miss who has become ours by then.
TEST_F(KillDescendants, DaemonWhoseStarterWasKilled_IsMetByTheNextWalk) {
  const std::string pid_file = directory_ / "daemon.pid";
  const auto program = start_ready(child("daemonize", {pid_file}));
  EXPECT_TRUE(eventually([&] {
    kill_descendants({});
    return marked_count_is(marker(), 0);
  }));
  EXPECT_TRUE(end_descendants({}, enough_ms).empty());
}

// A number that has passed on to somebody else is not the spared one.
TEST_F(KillDescendants, SparedPidWithAnotherStart_IsKilled) {
  const auto program = start_ready(child("ready-then-hold"));
  auto identity = identity_of(program->pid());
  ASSERT_TRUE(identity);
  --identity->start_time;
  EXPECT_TRUE(contains(kill_descendants({*identity}), program->pid()));
  EXPECT_EQ(program->wait().signal, SIGKILL);
}

// A subreaper that gives up its rights after it has got a child that keeps them, as happens with `sudo` in a job.
TEST_F(EndDescendants, WhatWeMayNotSignal_IsReturned) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a process that an ordinary user may not signal";
  constexpr uid_t nobody = 65534;
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t privileged = ::fork();
    if (privileged == 0) {
      for (;;) ::pause();
    }
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(2);
    const auto left = end_descendants({}, 20);
    ::_exit(pids_of(left) == std::vector<int>{privileged} ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(supervisor, &status, 0), supervisor);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(end_descendants({}, enough_ms).empty());
}

}  // namespace
}  // namespace forklift
