// The heartbeats of a run: one small slot per rank in one file of the run directory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "forklift/ids.hpp"

namespace forklift {

struct Heartbeat {
  std::int64_t mono_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t step = 0;     ///< The user's own count.
  std::int32_t attempt = 0;
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

inline constexpr std::size_t heartbeat_bytes = 32;
using HeartbeatSlot = std::array<char, heartbeat_bytes>;

/// The file of a run.
std::string heartbeat_file(const std::string& run_directory);

/// Where a rank's slot begins.
std::int64_t heartbeat_offset(Rank rank);

HeartbeatSlot encode_heartbeat(const Heartbeat& beat);

/// What the heartbeat file holds of a rank in an attempt; empty if it gave no sign in that one.
std::optional<Heartbeat> heartbeat_of(std::string_view file, Rank rank, Attempt attempt);

/// Empty for a slot that nobody wrote, or that was torn.
std::optional<Heartbeat> decode_heartbeat(std::string_view slot);

}  // namespace forklift
