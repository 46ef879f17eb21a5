// What must hold in every run, whatever happens in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/policy/group_machine.hpp"
#include "tests/policy/fake_job.hpp"

namespace forklift::policy {

class RunInvariants {
 public:
  explicit RunInvariants(const GroupRules& rules) : rules_(rules) {}

  /// One step of the machine, after its actions were carried out by `job`.
  void check(const Event& event, Instant now, const Actions& actions, const GroupMachine& machine, const FakeJob& job);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  enum class Height { ground, polite, killing, abandoned };  ///< How far up the ladder the attempt has come.

  void require(bool holds, const char* what);
  void note(const Event& event, Instant now);
  void check_action(const Action& action, Instant now, const GroupMachine& machine, const FakeJob& job);
  void check_sweep(SweepHow how);
  void check_finish(const Finish& finish, const FakeJob& job);
  void check_deadline(const GroupMachine& machine);
  [[nodiscard]] Duration longest_end() const;

  GroupRules rules_;
  std::vector<std::string> violations_;
  Height height_ = Height::ground;
  std::optional<SweepHow> sweep_;
  int attempts_ = 0;
  int finishes_ = 0;
  std::optional<Instant> asked_at_;  ///< When somebody first wanted the run to end.
  int first_signal_ = 0;
  bool launcher_failed_ = false;
};

}  // namespace forklift::policy
