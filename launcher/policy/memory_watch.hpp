// Whether the replicas of a young attempt grow, all alike, towards the end of the memory: what N copies of one model do
// before the kernel kills one of them. Pure: times and figures are handed in.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "forklift/request.hpp"
#include "launcher/policy/event.hpp"

namespace forklift::policy {

/// What was seen at one look.
struct MemorySample {
  Instant at{};                     ///< Since all replicas were started.
  std::vector<std::uint64_t> held;  ///< Bytes that each holds for itself, of those that were looked at. Not empty.
  int running = 0;                  ///< Replicas that run, looked at or not.
  std::uint64_t available = 0;      ///< Bytes left for all of them.
};

/// Why to warn.
struct MemoryThreat {
  int replicas = 0;
  std::uint64_t smallest = 0;  ///< Of the replicas.
  std::uint64_t largest = 0;
  std::uint64_t together = 0;  ///< All that run; those not looked at are taken for average.
  std::uint64_t available = 0;
  std::uint64_t growth_per_second = 0;  ///< Of all together, since the last look.
};

/// One attempt's looks at its replicas. They end after the last time, after a warning, when two in a row saw nothing
/// grow, and when fewer than two replicas are left. A look that sees a threat is followed by another a moment later:
/// replicas that have just finished to load do not grow any more.
class MemoryWatch {
 public:
  static constexpr std::array<std::chrono::milliseconds, 6> times{
      std::chrono::milliseconds(500),  std::chrono::milliseconds(1000), std::chrono::milliseconds(2000),
      std::chrono::milliseconds(4000), std::chrono::milliseconds(7000), std::chrono::milliseconds(10000)};
  static constexpr std::chrono::milliseconds second_look{250};

  /// When to look next, since all replicas were started. Empty: never again.
  [[nodiscard]] std::optional<Instant> next_look() const;

  /// Whether the largest replica is worth the reading of `available`; without it there is no threat.
  [[nodiscard]] static bool worth_a_look(const std::vector<std::uint64_t>& held);

  /// The threat that a sample shows: the replicas are alike, hold a third of what there is for them or more, and would
  /// use up the rest about before the next of `times` (at the last: within 10 s) if they grew on like this. Changes
  /// nothing.
  [[nodiscard]] std::optional<MemoryThreat> threat_in(const MemorySample& sample) const;

  /// The look that was due has been made. The threat to warn of, at most once, after a second look has confirmed it.
  std::optional<MemoryThreat> take(const MemorySample& sample);

  /// No further look: the replicas are being stopped.
  void end();

 private:
  [[nodiscard]] Duration horizon() const;
  void note_whether_idle(const MemorySample& sample);

  std::size_t next_ = 0;  ///< Into `times`: the look that is due, or that the second look belongs to.
  std::optional<Instant> second_look_at_;
  Instant last_at_{};
  std::uint64_t last_together_ = 0;
  int quiet_looks_ = 0;
};

}  // namespace forklift::policy
