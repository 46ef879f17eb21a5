// The run's clocks: monotonic for arithmetic, wall only to be printed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace forklift {

class RunClock {
 public:
  RunClock() : launched_(std::chrono::steady_clock::now()) {}

  [[nodiscard]] std::chrono::nanoseconds since_launch() const { return std::chrono::steady_clock::now() - launched_; }
  [[nodiscard]] double seconds_since_launch() const { return std::chrono::duration<double>(since_launch()).count(); }
  [[nodiscard]] std::chrono::steady_clock::time_point at(std::chrono::nanoseconds since_launch) const {
    return launched_ + since_launch;
  }
  /// When CLOCK_MONOTONIC showed so many nanoseconds.
  [[nodiscard]] double seconds_at(std::int64_t monotonic_ns) const {
    return std::chrono::duration<double>(std::chrono::nanoseconds(monotonic_ns) - launched_.time_since_epoch()).count();
  }
  [[nodiscard]] static std::int64_t monotonic_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  /// RFC 3339 with milliseconds and the local offset, e.g. 2026-01-31T12:00:00.123+01:00.
  [[nodiscard]] static std::string wall();

 private:
  std::chrono::steady_clock::time_point launched_;
};

}  // namespace forklift
