// A GroupMachine with a clock that a test moves by hand.
#pragma once

#include <string>
#include <utility>

#include "launcher/policy/group_machine.hpp"
#include "tests/policy/policy_text.hpp"

namespace forklift::policy {

class ScriptedGroup {
 public:
  explicit ScriptedGroup(GroupRules rules) : machine_(std::move(rules)) {}

  /// Hands in one event now, and returns "phase: actions".
  std::string take(const Event& event) {
    const Actions actions = machine_.step(event, now_);
    return to_text(machine_.phase()) + ": " + to_text(actions);
  }
  /// Moves the clock by `wait`, and ticks.
  std::string wait(Duration wait) {
    now_ += wait;
    return take(Tick{});
  }
  /// Moves the clock to the machine's own deadline, and ticks; without a deadline, just ticks.
  std::string wait_for_deadline() {
    now_ = machine_.next_deadline().value_or(now_);
    return take(Tick{});
  }
  void pass_time(Duration wait) { now_ += wait; }

  /// From the beginning to a group whose replicas all run.
  ScriptedGroup& start() {
    take(Begin{});
    return start_attempt();
  }
  /// From Reserving to a group whose replicas all run.
  ScriptedGroup& start_attempt() {
    take(PortsReserved{machine_.attempt()});
    take(GroupStarted{machine_.attempt()});
    return *this;
  }

  [[nodiscard]] const GroupMachine& machine() const { return machine_; }
  [[nodiscard]] Instant now() const { return now_; }

 private:
  GroupMachine machine_;
  Instant now_{
      std::chrono::seconds(10)};  // Not 0: nothing may take the beginning of the clock for the beginning of the run.
};

inline ReplicaEnded ended(int rank, Outcome outcome) { return {Rank{rank}, std::move(outcome)}; }

}  // namespace forklift::policy
