// The whole language between the event loop and the policy: what can happen, and what is to be done about it.
//
// Thinking: no clock, no system call. Time is an `Instant` handed in by the loop.
#pragma once

#include <chrono>
#include <optional>
#include <variant>
#include <vector>

#include "forklift/diagnosis.hpp"
#include "forklift/ids.hpp"
#include "forklift/outcome.hpp"
#include "forklift/report.hpp"

namespace forklift::policy {

using Instant = std::chrono::nanoseconds;  ///< Monotonic, since the launch.

/// Who asked for the end.
enum class Asker {
  terminal,    ///< SIGINT while forklift's guard is in the foreground of a terminal: only its repetition escalates.
  outside,     ///< Any other signal to forklift.
  time_limit,  ///< `--time-limit` was reached.
};

// ---- events: loop → policy ----------------------------------------------------------------------------------------

struct Begin {};  ///< Once, first.
struct PortsReserved {
  Attempt attempt;
};  ///< Answer to ReservePorts.
/// Answer to StartGroup: every replica was started, has failed to, or was spared by CancelStart. A replica that was
/// spared gets no ReplicaEnded; without CancelStart there is none, and if there is, the policy takes it for a failure
/// of forklift's own.
struct GroupStarted {
  Attempt attempt;
  int never_started = 0;  ///< How many were spared.
};
/// Also FailedToStart, also before GroupStarted. Exactly once per replica and attempt, except those that were spared
/// (CancelStart) or given up (AbandonReplicas).
struct ReplicaEnded {
  Rank rank;
  Outcome outcome;
};
/// The template ended before it could fork this attempt's replicas. If it ends while they run, nobody needs to know:
/// the next attempt starts another one.
struct TemplateEnded {
  Outcome outcome;
};
struct StopRequested {
  int signal;
  Asker asker;
};
struct SignalReceived {
  int signal;
};                         ///< To be passed through: USR1, USR2, WINCH, TSTP, CONT.
struct GuardLost {};       ///< The other process of the pair (or the host program) is gone.
struct LauncherFailed {};  ///< Ports or run directory failed; the loop holds the Error.
/// Answer to the latest SweepDescendants (it replaces an answer still owed to an earlier one) and sent again whenever
/// the number changes: processes of the job that are still there and are not replicas.
struct DescendantsLeft {
  int count;
};
/// Answer to DiagnoseAttempt. Empty: every replica exited 0.
struct AttemptDiagnosed {
  std::optional<Category> category;
};
struct Tick {};  ///< `now` has reached next_deadline().

using Event = std::variant<Begin, PortsReserved, GroupStarted, ReplicaEnded, TemplateEnded, StopRequested,
                           SignalReceived, GuardLost, LauncherFailed, DescendantsLeft, AttemptDiagnosed, Tick>;

// ---- actions: policy → loop ---------------------------------------------------------------------------------------

struct ReservePorts {
  Attempt attempt;
};
struct StartGroup {
  Attempt attempt;
};
struct CancelStart {};  ///< Start no further replica of this attempt; GroupStarted still follows.
struct StopReplicas {
  int signal;
};                       ///< Polite: to each running replica's group, then SIGCONT. Marks them as asked.
struct KillReplicas {};  ///< SIGKILL to each running replica's group. Marks them as killed.
struct PassSignal {
  int signal;
};                          ///< To each running replica's group, as it is. Marks nothing.
struct AbandonReplicas {};  ///< They outlived SIGKILL: each becomes Lost and a leftover of the report.
enum class SweepHow { look, politely, kill };
struct SweepDescendants {
  SweepHow how;
};                        ///< Count (and SIGTERM or SIGKILL) what is left beside replicas.
struct NameLeftovers {};  ///< Put the descendants that are still there into the report.
struct DiagnoseAttempt {
  Attempt attempt;
};
struct Finish {
  RunResult result;
  int stop_signal;             ///< 0 or the signal that stopped the run.
  std::optional<Asker> asker;  ///< Who wanted the end of an interrupted run.
};                             ///< Last action of a run.

using Action = std::variant<ReservePorts, StartGroup, CancelStart, StopReplicas, KillReplicas, PassSignal,
                            AbandonReplicas, SweepDescendants, NameLeftovers, DiagnoseAttempt, Finish>;
using Actions = std::vector<Action>;

}  // namespace forklift::policy
