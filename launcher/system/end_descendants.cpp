// Ending a whole tree of processes, whatever they do about it.
//
// Killing and looking alternate until nothing is left. Orphans come to us, since we are a subreaper, and a process with
// SIGKILL pending cannot fork any more. Against processes that are replaced by their children faster than /proc can be
// read, three things help: whole process groups are killed, which the kernel does in one step that no fork slips
// through; the walk kills whom it meets at once, and runs after the births; and while a pass meets anybody new, the
// next one follows without a wait.
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <unordered_set>

#include "launcher/system/process_walk.hpp"
#include "launcher/system/reap.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How long a pass waits for the killed to die before it looks again whether others were born meanwhile.
constexpr milliseconds longest_wait{20};

ProcessIdentity name_of(const ProcessEntry& entry) { return {entry.pid, entry.start_time}; }

/// What is a zombie although we reap ours waits for somebody else: its parent, a debugger, or (where only the first
/// thread of a process has ended) its other threads. Its pidfd may be readable at once, so nothing can wait for it.
bool is_zombie(const ProcessEntry& entry) { return entry.state == 'Z'; }

/// Sleeps until all of `dying` have died or the time is over. Without pidfds (an old kernel, no descriptors left) the
/// time decides.
void wait_for_deaths(const std::vector<ProcessEntry>& dying, milliseconds time) {
  std::vector<Descriptor> owned;
  std::vector<pollfd> watched;
  for (const ProcessEntry& entry : dying) {
    if (is_zombie(entry)) continue;
    Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, entry.pid, 0)));
    if (!pidfd.valid() && errno == ESRCH) return;
    if (!pidfd.valid()) continue;
    watched.push_back({pidfd.get(), POLLIN, 0});
    owned.push_back(std::move(pidfd));
  }
  const auto end = Clock::now() + time;
  auto alive = watched.size();
  do {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    if (left <= milliseconds::zero()) return;
    if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) return;
    for (pollfd& one : watched) {
      if (one.fd < 0 || one.revents == 0) continue;
      one.fd = -1;  // poll() passes over it from now on.
      --alive;
    }
  } while (alive > 0 || watched.empty());
}

/// Who takes the exit statuses of those that have ended and are our children.
enum class Statuses { taken_here, left_to_the_caller };

class TreeEnding {
 public:
  TreeEnding(const std::set<ProcessIdentity>& spared, Statuses statuses) : spared_(spared), statuses_(statuses) {}

  std::vector<ProcessEntry> run(Clock::time_point deadline) {
    for (;;) {
      reap_ended();
      // Whoever of ours lives when a walk begins is met by it, alive or as a zombie: a walk that met nobody is the
      // proof.
      met_somebody_new_ = false;
      std::vector<ProcessEntry> left = look_and_kill();
      if (left.empty() && !met_somebody_new_) return left;
      const auto time = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
      if (time <= milliseconds::zero()) {
        std::erase_if(left, is_zombie);
        return left;
      }
      if (!met_somebody_new_) wait_for_deaths(left, std::min(time, longest_wait));
    }
  }

  /// The descendants that were met, without the spared and what is theirs. All of them have got SIGKILL.
  std::vector<ProcessEntry> look_and_kill() {
    std::vector<ProcessEntry> table;
    std::unordered_set<int> ours{self_};
    std::unordered_set<int> foreign_groups{::getpgrp()};
    walk_processes([&](ProcessEntry entry) {
      if (spared_.contains(name_of(entry))) {
        foreign_groups.insert(entry.group);
        return;
      }
      if (statuses_ == Statuses::taken_here && entry.parent == self_ && is_zombie(entry) && reap_stranger(entry.pid)) {
        met_somebody_new_ = true;
        reap_ended();
        return;
      }
      if (ours.contains(entry.parent)) {
        ours.insert(entry.pid);
        kill_once(entry);
      }
      table.push_back(std::move(entry));
    });
    // Again from the whole table: where pids have wrapped around, a child comes before its parent.
    std::vector<ProcessEntry> found = descendants_of(self_, table);
    for (const ProcessEntry& entry : found) {
      ours.insert(entry.pid);
      kill_once(entry);
    }
    for (const ProcessEntry& entry : table) {
      if (!ours.contains(entry.pid)) foreign_groups.insert(entry.group);
    }
    kill_groups(found, foreign_groups);
    return found;
  }

 private:
  // Far cheaper than to let the walk read each of them, of which a fork storm leaves thousands. It ends early at an
  // ended child that may be a spared one and keeps its status; the walk reaps the others then.
  void reap_ended() const {
    for (pid_t ended = 0; (ended = peek_ended_child()) > 0;) {
      const bool may_be_spared =
          std::any_of(spared_.begin(), spared_.end(), [ended](const ProcessIdentity& one) { return one.pid == ended; });
      if (may_be_spared || !reap_stranger(ended)) return;
    }
  }

  void kill_once(const ProcessEntry& entry) {
    if (!met_.insert(name_of(entry)).second) return;
    met_somebody_new_ = true;
    ::kill(entry.pid, SIGKILL);  // EPERM: it stays and is returned. ESRCH: it was quicker.
  }

  /// The groups in which nobody else was seen.
  static void kill_groups(const std::vector<ProcessEntry>& found, const std::unordered_set<int>& foreign) {
    std::unordered_set<int> done;
    for (const ProcessEntry& entry : found) {
      if (entry.group > 1 && !foreign.contains(entry.group) && done.insert(entry.group).second) {
        ::kill(-entry.group, SIGKILL);
      }
    }
  }

  const std::set<ProcessIdentity>& spared_;
  const Statuses statuses_;
  const int self_ = ::getpid();
  std::set<ProcessIdentity> met_;
  bool met_somebody_new_ = false;
};

}  // namespace

std::vector<ProcessEntry> end_descendants(const std::set<ProcessIdentity>& spared, int timeout_ms) {
  return TreeEnding(spared, Statuses::taken_here).run(Clock::now() + milliseconds(timeout_ms));
}

std::vector<ProcessEntry> kill_descendants(const std::set<ProcessIdentity>& spared) {
  return TreeEnding(spared, Statuses::left_to_the_caller).look_and_kill();
}

}  // namespace forklift
