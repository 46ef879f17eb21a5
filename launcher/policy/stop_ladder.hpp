// The stop ladder: ask politely, SIGKILL, give up. It only goes up, and every rung has an end.
#pragma once

#include <vector>

#include "forklift/request.hpp"
#include "launcher/policy/event.hpp"

namespace forklift::policy {

enum class Rung {
  polite,     ///< The replicas were asked; they have `shutdown_timeout`.
  killing,    ///< They got SIGKILL; it has `kill_timeout` to work.
  abandoned,  ///< SIGKILL did not work: the top.
};

/// The way of one attempt's replicas down. A value; what is to be done is appended to `actions`.
class StopLadder {
 public:
  /// Asks the replicas with `signal`; a `shutdown_timeout` of 0 means SIGKILL at once.
  static StopLadder politely(const StopRules& rules, int signal, Instant now, Actions& actions);
  /// SIGKILL, no question asked.
  static StopLadder at_kill(const StopRules& rules, Instant now, Actions& actions);

  /// Forwards one more polite signal. Each signal is forwarded once, none prolongs the grace, and none follows SIGKILL.
  void ask(int signal, Actions& actions);
  /// SIGKILL now, unless it was sent before: its time is not prolonged either.
  void kill(Instant now, Actions& actions);
  /// The deadline is reached: one rung up. The next deadline counts from `now`, not from the one that was missed, so
  /// that a launcher that was itself held up still gives SIGKILL its time.
  void climb(Instant now, Actions& actions);

  [[nodiscard]] Rung rung() const { return rung_; }
  /// When `climb` is due; on the top, when it was.
  [[nodiscard]] Instant deadline() const { return deadline_; }

 private:
  explicit StopLadder(const StopRules& rules) : rules_(rules) {}

  StopRules rules_;
  Rung rung_ = Rung::polite;
  Instant deadline_{};
  std::vector<int> asked_;  ///< Polite signals sent so far.
};

}  // namespace forklift::policy
