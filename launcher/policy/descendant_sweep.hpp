// What happens to processes of the job that are not replicas, once all replicas of an attempt are gone.
//
//   after success:            look ─some left─► named, SIGTERM ─grace─► SIGKILL ─kill_timeout─► given up
//   after failure or stop:                                              SIGKILL ─kill_timeout─► named, given up
//
// None left, at any time: clean.
#pragma once

#include <optional>

#include "forklift/request.hpp"
#include "launcher/policy/event.hpp"

namespace forklift::policy {

enum class SweepProgress { under_way, clean, given_up };

/// The waits of a sweep, each ≥ 0.
struct SweepWaits {
  Duration grace;         ///< Between SIGTERM and SIGKILL.
  Duration kill_timeout;  ///< Between SIGKILL and giving up.
};

class DescendantSweep {
 public:
  static DescendantSweep after_success(const SweepWaits& waits, Actions& actions);
  static DescendantSweep after_stop(const SweepWaits& waits, Instant give_up_at, Actions& actions);

  /// `left` descendants are still there.
  SweepProgress counted(int left, Instant now, Actions& actions);
  /// The deadline is reached.
  SweepProgress overdue(Instant now, Actions& actions);
  /// Nobody waits for politeness any more: SIGKILL now, unless it was sent before.
  void hurry(Instant now, Actions& actions);

  /// Empty while the loop only looks: its answer is all there is to wait for.
  [[nodiscard]] std::optional<Instant> deadline() const { return deadline_; }

 private:
  enum class Naming { owed, done };

  explicit DescendantSweep(const SweepWaits& waits) : waits_(waits) {}
  void name(Actions& actions);
  void kill(Instant give_up_at, Actions& actions);

  SweepWaits waits_;
  SweepHow how_ = SweepHow::look;
  Naming naming_ = Naming::owed;
  std::optional<Instant> deadline_;
};

}  // namespace forklift::policy
