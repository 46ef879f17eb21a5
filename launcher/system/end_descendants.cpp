// Ending a whole tree of processes, whatever they do about it.
//
// Killing and looking alternate until nothing is left. A process that has SIGKILL pending cannot fork any more, so
// every pass leaves only what was born behind its back; orphans come to us, since we are a subreaper. While a pass
// still finds somebody new, the next one follows at once: that is what outruns a fork storm. Otherwise it waits on
// pidfds.
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "launcher/system/process_table.hpp"
#include "launcher/system/reap.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How long a pass waits for the killed to die before it looks again whether others were born meanwhile.
constexpr milliseconds longest_wait{20};

ProcessIdentity identity_of(const ProcessEntry& entry) { return {entry.pid, entry.start_time}; }

/// What is left of these after look() waits for somebody else: its parent, a debugger, or (where only the first thread
/// of a process has ended) its other threads. Its pidfd would be readable at once and wait for nothing.
bool is_zombie(const ProcessEntry& entry) { return entry.state == 'Z'; }

class TreeEnding {
 public:
  explicit TreeEnding(const std::set<ProcessIdentity>& spared) : spared_(spared) {}

  std::vector<ProcessEntry> run(Clock::time_point deadline) {
    for (;;) {
      std::vector<ProcessEntry> found = look();
      if (found.empty()) return found;
      const Pass pass = kill_all(found);
      const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
      if (left <= milliseconds::zero()) return left_over();
      if (pass == Pass::all_known) wait_for_deaths(found, std::min(left, longest_wait));
    }
  }

 private:
  enum class Pass { found_new, all_known };

  /// Reaps our ended children; what descends from us otherwise, without the spared and what is theirs.
  std::vector<ProcessEntry> look() const {
    std::vector<ProcessEntry> table = read_process_table();
    std::erase_if(table, [this](const ProcessEntry& entry) {
      if (spared_.contains(identity_of(entry))) return true;
      return entry.parent == self_ && entry.state == 'Z' && reap_stranger(entry.pid);
    });
    return descendants_of(self_, table);
  }

  Pass kill_all(const std::vector<ProcessEntry>& found) {
    Pass pass = Pass::all_known;
    for (const ProcessEntry& entry : found) {
      if (!signalled_.insert(identity_of(entry)).second) continue;
      pass = Pass::found_new;
      ::kill(entry.pid, SIGKILL);  // EPERM: left to `left_over`. ESRCH: it was quicker.
    }
    return pass;
  }

  std::vector<ProcessEntry> left_over() const {
    std::vector<ProcessEntry> left = look();
    std::erase_if(left, is_zombie);
    return left;
  }

  /// Until all of them have died or the time is over. Without pidfds (an old kernel, no descriptors) the time decides.
  void wait_for_deaths(const std::vector<ProcessEntry>& dying, milliseconds time) const {
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

  const std::set<ProcessIdentity>& spared_;
  const int self_ = ::getpid();
  std::set<ProcessIdentity> signalled_;
};

}  // namespace

std::vector<ProcessEntry> end_descendants(const std::set<ProcessIdentity>& spared, int timeout_ms) {
  return TreeEnding(spared).run(Clock::now() + milliseconds(timeout_ms));
}

}  // namespace forklift
