// The guard: the outer process of a launch. It forwards signals, passes the exit status on, and outlives the
// supervisor.
//
//   guard ──fork──► supervisor ──spawn──► replicas
//     └── socket pair: either one's end is seen by the other, which then ends the whole tree
//
// Both are subreapers, so nothing that the job started can leave the tree: not by setsid, not by a double fork.
#pragma once

#include <signal.h>

#include <functional>

#include "forklift/plan.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

struct GuardSettings {
  Interaction interaction = Interaction::none;  ///< terminal: its settings are saved, and restored on every path.
  Isolation isolation = Isolation::none;        ///< requested: the supervisor is the first process of a pid namespace.
  Duration kill_timeout = std::chrono::seconds(10);
  std::function<void()> meanwhile;  ///< Done once by the guard while the job starts: what nobody waits for.
};

/// What the supervisor is given by its guard.
struct SupervisorSeat {
  Descriptor guard;          ///< Its end of the socket pair.
  sigset_t original_mask{};  ///< The signal mask forklift was started with; replicas get it.
};

/// Turns the calling process into the guard and a fork of it into the supervisor, which runs `supervise` and exits with
/// what it returns. Returns the exit status of the run in the guard, after nothing of the job is left; never returns in
/// the supervisor. 125 with a sentence on stderr if the supervisor could not be started or was killed. The calling
/// process must have one thread. When the run was ended by SIGINT the guard dies of SIGINT itself, as a shell expects.
int run_guarded(const GuardSettings& settings, const std::function<int(SupervisorSeat)>& supervise);

/// A guard that a host program has forked: its supervisor is there already.
struct HostedGuard {
  Descriptor channel;  ///< The guard's end.
  pid_t supervisor = 0;
  Descriptor host;  ///< A pidfd of the host program, whose end is the end of the job.
  Duration kill_timeout = std::chrono::seconds(10);
  std::function<void()> meanwhile;  ///< As in GuardSettings.
};

/// The calling process, a subreaper whose child the supervisor is, guards it until both are gone. Returns 0, or 125
/// with a sentence on stderr if the supervisor was killed.
int run_hosted_guard(HostedGuard seat);

/// What makes a supervisor of the calling process: all signals blocked, a group and a name of its own, a subreaper.
void take_supervisor_role();

}  // namespace forklift
