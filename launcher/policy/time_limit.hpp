// `--time-limit` and `--checkpoint-signal`: when they are due, over all attempts of a run.
#pragma once

#include <optional>

#include "forklift/request.hpp"
#include "launcher/policy/event.hpp"

namespace forklift::policy {

/// Each of the two comes due once. Before `begin`, and without a limit, neither does.
class TimeLimit {
 public:
  explicit TimeLimit(const TimeRules& rules) : rules_(rules) {}

  /// The run begins: the limit counts from here.
  void begin(Instant now);

  /// When the checkpoint signal is to be sent: `checkpoint_lead` before the limit, or from the beginning on if the lead
  /// is longer than the limit. Empty: no such signal, or it was sent.
  [[nodiscard]] std::optional<Instant> checkpoint_at() const { return checkpoint_at_; }
  /// When the run has to be stopped. Empty: never, or it is being stopped.
  [[nodiscard]] std::optional<Instant> stop_at() const { return stop_at_; }
  [[nodiscard]] int checkpoint_signal() const { return rules_.checkpoint_signal; }

  void checkpoint_sent() { checkpoint_at_.reset(); }
  /// The run ends anyway, by the limit or for another reason.
  void cancel();

 private:
  TimeRules rules_;
  std::optional<Instant> checkpoint_at_;
  std::optional<Instant> stop_at_;
};

}  // namespace forklift::policy
