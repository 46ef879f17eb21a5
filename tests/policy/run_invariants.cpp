#include "tests/policy/run_invariants.hpp"

#include <csignal>

namespace forklift::policy {

using std::chrono::seconds;

void RunInvariants::check(const Event& event, Instant now, const Actions& actions, const GroupMachine& machine,
                          const FakeJob& job) {
  require(finishes_ == 0 || actions.empty(), "nothing comes after Finish");
  note(event, now);
  for (const Action& action : actions) check_action(action, now, machine, job);
  check_deadline(machine);
  require(!asked_at_ || machine.finished() || now <= *asked_at_ + longest_end(), "whoever asks for the end gets it");
}

void RunInvariants::require(bool holds, const char* what) {
  if (!holds) violations_.emplace_back(what);
}

void RunInvariants::note(const Event& event, Instant now) {
  const auto* request = std::get_if<StopRequested>(&event);
  const bool collapse = std::holds_alternative<GuardLost>(event) || std::holds_alternative<LauncherFailed>(event);
  // Runs begin at 0.
  const bool time_is_up = std::holds_alternative<Tick>(event) && rules_.time.limit && now >= *rules_.time.limit;
  if (finishes_ > 0 || (request == nullptr && !collapse && !time_is_up)) return;
  if (!asked_at_) asked_at_ = now;
  if (first_signal_ == 0 && time_is_up) first_signal_ = SIGTERM;
  if (first_signal_ == 0 && request != nullptr) first_signal_ = request->signal;
  launcher_failed_ = launcher_failed_ || collapse;
}

void RunInvariants::check_action(const Action& action, Instant now, const GroupMachine& machine, const FakeJob& job) {
  if (std::holds_alternative<StartGroup>(action)) {
    ++attempts_;
    require(height_ != Height::abandoned, "no attempt starts beside what was given up");
    height_ = Height::ground;
    sweep_.reset();
    require(!asked_at_, "no attempt starts once the end was asked for");
    const bool budgeted = rules_.nodes == 1 && !rules_.restart.window;
    require(rules_.nodes == 1 || attempts_ == 1, "several nodes make one attempt");
    require(!budgeted || attempts_ <= rules_.restart.max_restarts + 2, "no more attempts than the budget allows");
  } else if (std::holds_alternative<StopReplicas>(action)) {
    require(height_ <= Height::polite, "the ladder only goes up");
    height_ = Height::polite;
  } else if (std::holds_alternative<KillReplicas>(action)) {
    require(height_ < Height::killing, "SIGKILL is sent once");
    height_ = Height::killing;
    const auto bound = machine.next_deadline();
    require(machine.finished() || (bound && *bound <= now + rules_.stop.kill_timeout), "SIGKILL has a bound");
  } else if (std::holds_alternative<AbandonReplicas>(action)) {
    require(height_ == Height::killing, "nobody is given up without SIGKILL");
    height_ = Height::abandoned;
  } else if (const auto* sweep = std::get_if<SweepDescendants>(&action)) {
    check_sweep(sweep->how);
  } else if (const auto* finish = std::get_if<Finish>(&action)) {
    check_finish(*finish, job);
  }
}

void RunInvariants::check_sweep(SweepHow how) {
  require(!sweep_ || how >= *sweep_, "a sweep only gets harder");
  sweep_ = how;
}

void RunInvariants::check_finish(const Finish& finish, const FakeJob& job) {
  ++finishes_;
  require(finishes_ == 1, "a run finishes once");
  require(!job.any_running(), "no replica outlives the run");
  switch (finish.result) {
    case RunResult::succeeded:
      require(job.all_succeeded() && !launcher_failed_, "a success is one");
      require(finish.stop_signal == 0, "a success was not stopped");
      return;
    case RunResult::failed:
      require(finish.stop_signal == 0, "a failure was not stopped");
      return;
    case RunResult::interrupted:
      require(!launcher_failed_, "forklift's own failure is no interruption");
      require(first_signal_ != 0 && finish.stop_signal == first_signal_, "the first request stopped the run");
      require(finish.asker.has_value(), "somebody asked for the end");
      return;
    case RunResult::running:
      return require(false, "a finished run does not go on");
  }
}

void RunInvariants::check_deadline(const GroupMachine& machine) {
  const bool deadline = machine.next_deadline().has_value();
  switch (machine.phase()) {
    case Phase::idle:
    case Phase::finished:
      return require(!deadline, "before and after a run nobody is woken");
    case Phase::reserving:
    case Phase::starting:
    case Phase::running:
    case Phase::diagnosing:
      return require(!deadline || rules_.time.limit, "a job without a time limit wakes nobody");
    case Phase::judging:
    case Phase::stopping:
      return require(deadline, "a stop is bounded");
    case Phase::sweeping:
      return require(deadline || sweep_ == SweepHow::look, "a sweep is bounded");
  }
}

Duration RunInvariants::longest_end() const {
  // Both rungs, a sweep that is hurried, and what answers and late ticks add.
  return rules_.stop.shutdown_timeout + 2 * rules_.stop.kill_timeout + rules_.stranger_grace + seconds(5);
}

}  // namespace forklift::policy
