// A small model of the world below the policy: it does what the actions say, slowly, and things go wrong in it.
//
// Replicas fail to start, crash, end well, run for ever, ignore polite signals, or are stuck in the kernel and survive
// SIGKILL; they leave descendants that behave as badly. Answers come late. Everything follows from the seed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/policy/event.hpp"
#include "launcher/policy/group_rules.hpp"
#include "tests/policy/dice.hpp"

namespace forklift::policy {

class FakeJob {
 public:
  FakeJob(int replicas, std::uint64_t seed) : count_(replicas), dice_(seed) {}

  void perform(const Action& action, Instant now);

  /// When something happens next in the world.
  [[nodiscard]] std::optional<Instant> next() const;
  /// Lets the next thing happen; what the policy gets to hear of it, if anything.
  std::vector<Event> happen();
  /// Puts an event from outside on the agenda.
  void plan(Instant at, Event event);

  [[nodiscard]] bool any_running() const;
  [[nodiscard]] bool all_succeeded() const;
  /// What the actions did that must never be done, in words.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  using Happening = std::function<void(Instant)>;
  enum class Life { absent, running, ended, abandoned };
  enum class ToPolite { dies, exits_well, exits_badly, ignores };
  enum class ToKill { dies, survives };
  struct Replica {
    Life life = Life::absent;
    ToPolite to_polite = ToPolite::dies;
    ToKill to_kill = ToKill::dies;
    Outcome outcome = Lost{};  ///< Once it has ended or was abandoned.
  };
  struct Descendant {
    ToPolite to_polite;
    ToKill to_kill;
  };

  void on(const ReservePorts& reserve, Instant now);
  void on(const StartGroup& start, Instant now);
  void on(const CancelStart&, Instant) { start_cancelled_ = true; }
  void on(const StopReplicas& stop, Instant now);
  void on(const KillReplicas&, Instant now);
  void on(const PassSignal&, Instant) {}
  void on(const AbandonReplicas&, Instant);
  void on(const SweepDescendants& sweep, Instant now);
  void on(const NameLeftovers&, Instant) {}
  void on(const DiagnoseAttempt&, Instant now);
  void on(const Finish&, Instant) {}

  void later(Instant now, Duration within, Happening happening);
  void start_next(std::size_t index, Instant now);
  void decide_fate(std::size_t index, Instant now);
  void end_later(std::size_t index, Instant now, Duration within, const Outcome& outcome);
  void end(std::size_t index, const Outcome& outcome);

  int count_;
  Dice dice_;
  std::multimap<Instant, Happening> agenda_;
  std::vector<Event> news_;  ///< Of what is just happening.
  Attempt attempt_{-1};
  bool start_cancelled_ = false;
  int sweeps_ = 0;
  std::vector<Replica> replicas_;
  std::vector<Descendant> descendants_;
  std::vector<std::string> violations_;
};

}  // namespace forklift::policy
