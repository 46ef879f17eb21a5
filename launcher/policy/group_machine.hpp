// The policy of a group of replicas: start all, stop all, restart all. Pure: step(event, now) → actions.
//
//   Idle ─Begin─► Reserving ─PortsReserved─► Running ─all ended─► Sweeping ─none left─► Diagnosing ─► Finished
//                     ▲                        │ failure, stop request       ▲              │
//                     │                        ├──► Judging (200 ms) ──┐     │              │
//                     │                        └──► Stopping ◄─────────┘─────┘              │
//                     └───────────────────────────── restart ◄──────────────────────────────┘
//
// What ends a run, by the state in which it comes (stop_requests.hpp tells one request from the next):
//
//   state                    stop request or time limit               guard lost, launcher failed
//   Idle, Reserving          interrupted, at once                     failed, at once
//   Running, Judging         stop ladder, interrupted                 SIGKILL to all, failed
//   Stopping after failure   forwarded; failed, no further attempt    SIGKILL to all, failed
//   Stopping otherwise       forwarded, or SIGKILL if impatient       SIGKILL to all, failed
//   Sweeping after success   SIGKILL to what is left; succeeded       SIGKILL to what is left, failed
//   Sweeping otherwise       failed or interrupted as before          failed
//   Diagnosing a failure     interrupted if a further attempt was     failed, at once
//                            due, else failed
//   Diagnosing otherwise     as before                                failed, at once
//
// A further attempt is also not made where something of the last one could not be ended: two incarnations of a rank
// must never run side by side.
//
// Copyable as a value; one thread. Never reads a clock: `now` is handed in and never goes back.
#pragma once

#include <optional>

#include "launcher/policy/event.hpp"
#include "launcher/policy/group_rules.hpp"
#include "launcher/policy/group_state.hpp"
#include "launcher/policy/restart_budget.hpp"
#include "launcher/policy/stop_requests.hpp"
#include "launcher/policy/time_limit.hpp"

namespace forklift::policy {

class GroupMachine {
 public:
  explicit GroupMachine(GroupRules rules);

  /// Takes one event and returns what to do, in order. Events that mean nothing in the present state give no actions.
  /// After Finish every event gives none.
  Actions step(const Event& event, Instant now);

  /// When a Tick is due, perhaps in the past; empty: never (an idle job costs no wake-up).
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  [[nodiscard]] Attempt attempt() const { return attempt_; }
  [[nodiscard]] Phase phase() const;
  [[nodiscard]] bool finished() const { return std::holds_alternative<Finished>(state_); }

 private:
  /// The step in progress.
  struct Turn {
    Instant now;
    Actions actions;
  };
  enum class Remains { nothing, something };
  enum class AlarmKind { state, checkpoint, time_limit };
  struct Alarm {
    Instant at;
    AlarmKind kind;
  };

  void on(const Begin&, Turn& turn);
  void on(const PortsReserved& reserved, Turn& turn);
  void on(const GroupStarted& started, Turn& turn);
  void on(const ReplicaEnded& ended, Turn& turn);
  void on(const TemplateEnded& ended, Turn& turn);
  void on(const StopRequested& request, Turn& turn);
  void on(const SignalReceived& received, Turn& turn);
  void on(const GuardLost&, Turn& turn) { collapse(turn); }
  void on(const LauncherFailed&, Turn& turn) { collapse(turn); }
  void on(const DescendantsLeft& left, Turn& turn);
  void on(const AttemptDiagnosed& diagnosed, Turn& turn);
  void on(const Tick&, Turn& turn);

  void reserve_ports(Turn& turn);
  void fail(Crew crew, const Outcome& outcome, Turn& turn);
  void judge(Crew crew, Turn& turn);
  void stop(Crew crew, EndCause cause, int signal, Turn& turn);
  void collapse(Turn& turn);
  void kill_all(Crew crew, Turn& turn);
  void sweep(EndCause cause, Instant give_up_at, Turn& turn);
  void sweep_when_gone(Turn& turn);
  void advance(EndCause cause, SweepProgress progress, Turn& turn);
  void finish(RunResult result, Turn& turn);

  [[nodiscard]] std::optional<Instant> state_deadline() const;
  [[nodiscard]] std::optional<Alarm> next_alarm() const;
  void ring(AlarmKind kind, Turn& turn);
  void state_overdue(Turn& turn);
  [[nodiscard]] SweepWaits sweep_waits() const { return {rules_.stranger_grace, rules_.stop.kill_timeout}; }
  [[nodiscard]] Crew* crew();

  GroupRules rules_;
  RestartBudget budget_;
  TimeLimit time_;
  StopRequests requests_;
  Attempt attempt_;
  Remains remains_ = Remains::nothing;  ///< Whether something of an attempt was given up.
  GroupState state_;
};

}  // namespace forklift::policy
