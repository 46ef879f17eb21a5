#include "launcher/policy/group_machine.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "launcher/policy/instant.hpp"

namespace forklift::policy {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

void cancel_start(Crew& crew, Actions& actions) {
  if (crew.start != StartPhase::under_way) return;
  crew.start = StartPhase::cancelled;
  actions.push_back(CancelStart{});
}

}  // namespace

GroupMachine::GroupMachine(GroupRules rules)
    : rules_(std::move(rules)), budget_(rules_.restart, rules_.nodes, rules_.ports), time_(rules_.time) {}

Actions GroupMachine::step(const Event& event, Instant now) {
  if (finished()) return {};
  Turn turn{now, {}};
  std::visit([&](const auto& happened) { on(happened, turn); }, event);
  return std::move(turn.actions);
}

// ---- the life of an attempt ---------------------------------------------------------------------------------------

void GroupMachine::on(const Begin&, Turn& turn) {
  if (!std::holds_alternative<Idle>(state_)) return;
  time_.begin(turn.now);
  reserve_ports(turn);
}

void GroupMachine::reserve_ports(Turn& turn) {
  state_ = Reserving{};
  turn.actions.push_back(ReservePorts{attempt_});
}

void GroupMachine::on(const PortsReserved& reserved, Turn& turn) {
  if (!std::holds_alternative<Reserving>(state_) || reserved.attempt != attempt_) return;
  state_ = Running{Crew{.alive = rules_.replicas}};
  turn.actions.push_back(StartGroup{attempt_});
}

void GroupMachine::on(const GroupStarted& started, Turn& turn) {
  Crew* const present = crew();
  if (present == nullptr || started.attempt != attempt_ || present->start == StartPhase::complete) return;
  // Replicas are missing that nobody had spared: what is left must not pass for a success.
  const bool incomplete = present->start == StartPhase::under_way && started.never_started > 0;
  present->start = StartPhase::complete;
  present->alive -= std::min(started.never_started, present->alive);
  if (incomplete) return collapse(turn);
  sweep_when_gone(turn);
}

void GroupMachine::on(const ReplicaEnded& ended, Turn& turn) {
  Crew* const present = crew();
  if (present == nullptr || present->alive == 0) return;
  --present->alive;
  // In Stopping the cause is settled, and every further end is collateral.
  if (succeeded(ended.outcome) || std::holds_alternative<Stopping>(state_)) return sweep_when_gone(turn);
  fail(*present, ended.outcome, turn);
}

void GroupMachine::on(const TemplateEnded& ended, Turn& turn) {
  const Crew* const present = crew();
  const bool matters = present != nullptr && present->start == StartPhase::under_way;
  // Whatever its outcome, also success: no replica came of it.
  if (matters && !std::holds_alternative<Stopping>(state_)) fail(*present, ended.outcome, turn);
}

void GroupMachine::fail(Crew crew, const Outcome& outcome, Turn& turn) {
  if (!may_be_stopped_from_outside(outcome)) return stop(crew, EndCause::replica_failure, SIGTERM, turn);
  if (std::holds_alternative<Running>(state_)) judge(crew, turn);
}

void GroupMachine::judge(Crew crew, Turn& turn) {
  cancel_start(crew, turn.actions);
  state_ = Judging{crew, after(turn.now, rules_.judge_wait)};
}

void GroupMachine::stop(Crew crew, EndCause cause, int signal, Turn& turn) {
  cancel_start(crew, turn.actions);
  if (crew.gone()) return sweep(cause, after(turn.now, rules_.stop.kill_timeout), turn);
  state_ = Stopping{crew, cause, StopLadder::politely(rules_.stop, signal, turn.now, turn.actions)};
}

/// Leaves Running and Stopping once no replica is left. Judging waits for its deadline even then.
void GroupMachine::sweep_when_gone(Turn& turn) {
  if (const auto* running = std::get_if<Running>(&state_); running != nullptr && running->crew.gone()) {
    state_ = Sweeping{EndCause::success, DescendantSweep::after_success(sweep_waits(), turn.actions)};
  } else if (const auto* stopping = std::get_if<Stopping>(&state_); stopping != nullptr && stopping->crew.gone()) {
    // Without a guard there is one bound for everything, replicas and descendants.
    const Instant give_up_at = stopping->cause == EndCause::launcher_failure
                                   ? stopping->ladder.deadline()
                                   : after(turn.now, rules_.stop.kill_timeout);
    sweep(stopping->cause, give_up_at, turn);
  }
}

void GroupMachine::sweep(EndCause cause, Instant give_up_at, Turn& turn) {
  state_ = Sweeping{cause, DescendantSweep::after_stop(sweep_waits(), give_up_at, turn.actions)};
}

void GroupMachine::on(const DescendantsLeft& left, Turn& turn) {
  if (auto* sweeping = std::get_if<Sweeping>(&state_)) {
    const SweepProgress progress = sweeping->sweep.counted(left.count, turn.now, turn.actions);
    advance(sweeping->cause, progress, turn);
  }
}

void GroupMachine::advance(EndCause cause, SweepProgress progress, Turn& turn) {
  if (progress == SweepProgress::under_way) return;
  if (progress == SweepProgress::given_up) remains_ = Remains::something;
  // Replicas that forklift killed for its own sake have nothing to tell.
  if (cause == EndCause::launcher_failure) return finish(RunResult::failed, turn);
  state_ = Diagnosing{cause};
  turn.actions.push_back(DiagnoseAttempt{attempt_});
}

void GroupMachine::on(const AttemptDiagnosed& diagnosed, Turn& turn) {
  const auto* diagnosing = std::get_if<Diagnosing>(&state_);
  if (diagnosing == nullptr) return;
  const bool another_is_due =
      diagnosed.category.has_value() && remains_ == Remains::nothing && budget_.allows(*diagnosed.category, turn.now);
  switch (diagnosing->cause) {
    case EndCause::success:
      return finish(RunResult::succeeded, turn);
    case EndCause::stop_request:
      return finish(RunResult::interrupted, turn);
    case EndCause::stopped_before_restart:
      return finish(another_is_due ? RunResult::interrupted : RunResult::failed, turn);
    case EndCause::launcher_failure:
      return finish(RunResult::failed, turn);
    case EndCause::replica_failure:
      if (!another_is_due || requests_.any()) return finish(RunResult::failed, turn);
      budget_.spend(*diagnosed.category, turn.now);
      ++attempt_.value;
      return reserve_ports(turn);
  }
}

void GroupMachine::finish(RunResult result, Turn& turn) {
  state_ = Finished{};
  time_.cancel();
  const bool stopped = result == RunResult::interrupted;
  turn.actions.push_back(
      Finish{result, stopped ? requests_.first_signal() : 0, stopped ? requests_.first_asker() : std::nullopt});
}

// ---- from outside -------------------------------------------------------------------------------------------------

void GroupMachine::on(const StopRequested& request, Turn& turn) {
  const bool is_first = !requests_.any();
  const Urgency urgency = requests_.take(request, turn.now);
  time_.cancel();
  const auto stop_crew = [&](Crew crew) { stop(crew, EndCause::stop_request, request.signal, turn); };
  std::visit(Overloaded{
                 [&](const Idle&) { finish(RunResult::interrupted, turn); },
                 [&](const Reserving&) { finish(RunResult::interrupted, turn); },
                 [&](const Running& running) { stop_crew(running.crew); },
                 [&](const Judging& judging) { stop_crew(judging.crew); },
                 [&](Stopping& stopping) {
                   switch (urgency) {
                     case Urgency::patient:
                       return stopping.ladder.ask(request.signal, turn.actions);
                     case Urgency::impatient:
                       return stopping.ladder.kill(turn.now, turn.actions);
                   }
                 },
                 [&](Sweeping& sweeping) { sweeping.sweep.hurry(turn.now, turn.actions); },
                 [&](Diagnosing& diagnosing) {
                   if (is_first && diagnosing.cause == EndCause::replica_failure) {
                     diagnosing.cause = EndCause::stopped_before_restart;
                   }
                 },
                 [](const Finished&) {},
             },
             state_);
}

void GroupMachine::on(const SignalReceived& received, Turn& turn) {
  const Crew* const present = crew();
  if (present != nullptr && present->alive > 0) turn.actions.push_back(PassSignal{received.signal});
}

/// Forklift itself cannot go on: no grace, no further attempt, and one bound for everything.
void GroupMachine::collapse(Turn& turn) {
  time_.cancel();
  std::visit(Overloaded{
                 [&](const Idle&) { finish(RunResult::failed, turn); },
                 [&](const Reserving&) { finish(RunResult::failed, turn); },
                 [&](const Running& running) { kill_all(running.crew, turn); },
                 [&](const Judging& judging) { kill_all(judging.crew, turn); },
                 [&](Stopping& stopping) {
                   if (stopping.cause == EndCause::launcher_failure) return;
                   stopping.cause = EndCause::launcher_failure;
                   stopping.ladder.kill(turn.now, turn.actions);
                   turn.actions.push_back(SweepDescendants{SweepHow::kill});
                 },
                 [&](Sweeping& sweeping) {
                   sweeping.cause = EndCause::launcher_failure;
                   sweeping.sweep.hurry(turn.now, turn.actions);
                 },
                 [&](const Diagnosing&) { finish(RunResult::failed, turn); },
                 [](const Finished&) {},
             },
             state_);
}

void GroupMachine::kill_all(Crew crew, Turn& turn) {
  cancel_start(crew, turn.actions);
  if (crew.gone()) return sweep(EndCause::launcher_failure, after(turn.now, rules_.stop.kill_timeout), turn);
  state_ = Stopping{crew, EndCause::launcher_failure, StopLadder::at_kill(rules_.stop, turn.now, turn.actions)};
  // At once, not only when the replicas are gone: nobody is left who would do it if this process dies as well.
  turn.actions.push_back(SweepDescendants{SweepHow::kill});
}

// ---- time ---------------------------------------------------------------------------------------------------------

void GroupMachine::on(const Tick&, Turn& turn) {
  for (auto alarm = next_alarm(); alarm && alarm->at <= turn.now; alarm = next_alarm()) ring(alarm->kind, turn);
}

void GroupMachine::ring(AlarmKind kind, Turn& turn) {
  switch (kind) {
    case AlarmKind::state:
      return state_overdue(turn);
    case AlarmKind::checkpoint:
      time_.checkpoint_sent();
      turn.actions.push_back(PassSignal{time_.checkpoint_signal()});
      return;
    case AlarmKind::time_limit:
      return on(StopRequested{SIGTERM, Asker::time_limit}, turn);
  }
}

void GroupMachine::state_overdue(Turn& turn) {
  if (const auto* judging = std::get_if<Judging>(&state_)) {
    stop(judging->crew, EndCause::replica_failure, SIGTERM, turn);
  } else if (auto* stopping = std::get_if<Stopping>(&state_)) {
    stopping->ladder.climb(turn.now, turn.actions);
    if (stopping->ladder.rung() != Rung::abandoned) return;
    remains_ = Remains::something;
    stopping->crew = Crew{.alive = 0, .start = StartPhase::complete};
    sweep_when_gone(turn);
  } else if (auto* sweeping = std::get_if<Sweeping>(&state_)) {
    const SweepProgress progress = sweeping->sweep.overdue(turn.now, turn.actions);
    advance(sweeping->cause, progress, turn);
  }
}

std::optional<Instant> GroupMachine::state_deadline() const {
  if (const auto* judging = std::get_if<Judging>(&state_)) return judging->until;
  if (const auto* stopping = std::get_if<Stopping>(&state_)) return stopping->ladder.deadline();
  if (const auto* sweeping = std::get_if<Sweeping>(&state_)) return sweeping->sweep.deadline();
  return std::nullopt;
}

std::optional<GroupMachine::Alarm> GroupMachine::next_alarm() const {
  // The checkpoint signal waits until every replica can hear it, and is pointless once the group is being stopped.
  const bool checkpoint_can_be_heard = phase() == Phase::running;
  const std::array<std::pair<AlarmKind, std::optional<Instant>>, 3> pending{{
      {AlarmKind::state, state_deadline()},
      {AlarmKind::checkpoint, checkpoint_can_be_heard ? time_.checkpoint_at() : std::nullopt},
      {AlarmKind::time_limit, time_.stop_at()},
  }};
  std::optional<Alarm> earliest;
  for (const auto& [kind, at] : pending) {
    if (at && (!earliest || *at < earliest->at)) earliest = Alarm{*at, kind};
  }
  return earliest;
}

std::optional<Instant> GroupMachine::next_deadline() const {
  const std::optional<Alarm> alarm = next_alarm();
  return alarm ? std::optional(alarm->at) : std::nullopt;
}

// ---- observers ----------------------------------------------------------------------------------------------------

Phase GroupMachine::phase() const {
  return std::visit(Overloaded{
                        [](const Idle&) { return Phase::idle; },
                        [](const Reserving&) { return Phase::reserving; },
                        [](const Running& running) {
                          return running.crew.start == StartPhase::complete ? Phase::running : Phase::starting;
                        },
                        [](const Judging&) { return Phase::judging; },
                        [](const Stopping&) { return Phase::stopping; },
                        [](const Sweeping&) { return Phase::sweeping; },
                        [](const Diagnosing&) { return Phase::diagnosing; },
                        [](const Finished&) { return Phase::finished; },
                    },
                    state_);
}

Crew* GroupMachine::crew() {
  if (auto* running = std::get_if<Running>(&state_)) return &running->crew;
  if (auto* judging = std::get_if<Judging>(&state_)) return &judging->crew;
  if (auto* stopping = std::get_if<Stopping>(&state_)) return &stopping->crew;
  return nullptr;
}

}  // namespace forklift::policy
