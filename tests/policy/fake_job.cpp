#include "tests/policy/fake_job.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace forklift::policy {

using std::chrono::milliseconds;
using std::chrono::seconds;

void FakeJob::perform(const Action& action, Instant now) {
  std::visit([&](const auto& order) { on(order, now); }, action);
}

std::optional<Instant> FakeJob::next() const {
  return agenda_.empty() ? std::nullopt : std::optional(agenda_.begin()->first);
}

std::vector<Event> FakeJob::happen() {
  const auto first = agenda_.extract(agenda_.begin());
  first.mapped()(first.key());
  return std::exchange(news_, {});
}

void FakeJob::plan(Instant at, Event event) {
  agenda_.emplace(at, [this, event = std::move(event)](Instant) { news_.push_back(event); });
}

bool FakeJob::any_running() const {
  return std::ranges::any_of(replicas_, [](const Replica& replica) { return replica.life == Life::running; });
}

bool FakeJob::all_succeeded() const {
  return std::ranges::all_of(replicas_, [](const Replica& replica) { return succeeded(replica.outcome); });
}

void FakeJob::later(Instant now, Duration within, Happening happening) {
  agenda_.emplace(now + dice_.up_to(within), std::move(happening));
}

// ---- the start ----------------------------------------------------------------------------------------------------

void FakeJob::on(const ReservePorts& reserve, Instant now) {
  const Instant answered_at = now + dice_.up_to(milliseconds(5));
  if (dice_.percent(2)) return plan(answered_at, LauncherFailed{});
  plan(answered_at, PortsReserved{reserve.attempt});
}

void FakeJob::on(const StartGroup& start, Instant now) {
  if (start.attempt <= attempt_) violations_.push_back("an attempt was started twice");
  if (any_running()) violations_.push_back("an attempt was started beside the last one");
  attempt_ = start.attempt;
  start_cancelled_ = false;
  replicas_.assign(static_cast<std::size_t>(count_), Replica{});
  later(now, milliseconds(2), [this](Instant then) { start_next(0, then); });
}

void FakeJob::start_next(std::size_t index, Instant now) {
  if (start_cancelled_ || index == replicas_.size()) {
    news_.push_back(GroupStarted{attempt_, static_cast<int>(replicas_.size() - index)});
    return;
  }
  later(now, milliseconds(2), [this, index](Instant then) { start_next(index + 1, then); });
  if (dice_.percent(3)) return end(index, FailedToStart{});
  Replica& replica = replicas_[index];
  replica.life = Life::running;
  replica.to_polite = dice_.one_of({ToPolite::dies, ToPolite::exits_well, ToPolite::exits_badly, ToPolite::ignores});
  replica.to_kill = dice_.percent(3) ? ToKill::survives : ToKill::dies;
  decide_fate(index, now);
}

void FakeJob::decide_fate(std::size_t index, Instant now) {
  const int fate = dice_.below(100);
  if (fate < 60) return end_later(index, now, seconds(60), Exited{0});
  if (fate < 70) return end_later(index, now, milliseconds(2), Exited{0});
  if (fate < 76) return end_later(index, now, seconds(60), Exited{1});
  if (fate < 80) return end_later(index, now, milliseconds(2), Exited{1});
  const int signal = dice_.one_of({SIGTERM, SIGINT, SIGHUP, SIGKILL, SIGSEGV});
  if (fate < 90) return end_later(index, now, seconds(60), Signalled{.signal = signal});
  // The rest runs until it is stopped.
}

// ---- ends ---------------------------------------------------------------------------------------------------------

void FakeJob::end_later(std::size_t index, Instant now, Duration within, const Outcome& outcome) {
  later(now, within, [this, index, attempt = attempt_, outcome](Instant) {
    if (attempt == attempt_ && replicas_[index].life == Life::running) end(index, outcome);
  });
}

void FakeJob::end(std::size_t index, const Outcome& outcome) {
  Replica& replica = replicas_[index];
  if (replica.life == Life::ended || replica.life == Life::abandoned) violations_.push_back("a replica ended twice");
  replica.life = Life::ended;
  replica.outcome = outcome;
  for (int left = dice_.percent(15) ? 1 + dice_.below(3) : 0; left > 0; --left) {
    descendants_.push_back(
        {dice_.one_of({ToPolite::dies, ToPolite::ignores}), dice_.percent(5) ? ToKill::survives : ToKill::dies});
  }
  news_.push_back(ReplicaEnded{Rank{static_cast<int>(index)}, outcome});
}

void FakeJob::on(const StopReplicas& stop, Instant now) {
  for (std::size_t index = 0; index < replicas_.size(); ++index) {
    if (replicas_[index].life != Life::running) continue;
    switch (replicas_[index].to_polite) {
      case ToPolite::dies:
        end_later(index, now, milliseconds(50), Signalled{.signal = stop.signal});
        break;
      case ToPolite::exits_well:
        end_later(index, now, seconds(40), Exited{0});
        break;
      case ToPolite::exits_badly:
        end_later(index, now, seconds(5), Exited{1});
        break;
      case ToPolite::ignores:
        break;
    }
  }
}

void FakeJob::on(const KillReplicas&, Instant now) {
  for (std::size_t index = 0; index < replicas_.size(); ++index) {
    if (replicas_[index].life != Life::running || replicas_[index].to_kill == ToKill::survives) continue;
    end_later(index, now, milliseconds(200), Signalled{.signal = SIGKILL});
  }
}

void FakeJob::on(const AbandonReplicas&, Instant) {
  for (Replica& replica : replicas_) {
    if (replica.life != Life::running) continue;
    replica.life = Life::abandoned;
    replica.outcome = Lost{"survived SIGKILL"};
  }
}

void FakeJob::on(const SweepDescendants& sweep, Instant now) {
  const int mine = ++sweeps_;
  later(now, milliseconds(20), [this, mine, how = sweep.how](Instant) {
    if (mine != sweeps_) return;  // A later sweep took over the answer.
    std::erase_if(descendants_, [how](const Descendant& each) {
      return (how == SweepHow::politely && each.to_polite == ToPolite::dies) ||
             (how == SweepHow::kill && each.to_kill == ToKill::dies);
    });
    news_.push_back(DescendantsLeft{static_cast<int>(descendants_.size())});
  });
}

void FakeJob::on(const DiagnoseAttempt&, Instant now) {
  if (any_running()) violations_.push_back("an attempt was diagnosed while a replica ran");
  if (all_succeeded()) return plan(now + dice_.up_to(milliseconds(10)), AttemptDiagnosed{});
  // Any kind, whether it fits the outcomes or not: that is nothing to the policy.
  const auto category = dice_.one_of({Category::exit_code, Category::exit_code, Category::python_exception,
                                      Category::port_in_use, Category::out_of_memory, Category::failed_to_start,
                                      Category::killed_from_outside, Category::interrupted});
  plan(now + dice_.up_to(milliseconds(10)), AttemptDiagnosed{category});
}

}  // namespace forklift::policy
