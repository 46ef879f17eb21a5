#include "worker/format/heartbeat.hpp"

#include <cstring>

namespace forklift {
namespace {

/// What lies in the file. `check` tells a slot that was written whole from zeros and from a torn write.
struct Slot {
  std::int64_t mono_ns;
  std::int64_t step;
  std::int64_t attempt;
  std::uint64_t check;
};
static_assert(sizeof(Slot) == heartbeat_bytes);

std::uint64_t check_of(const Slot& slot) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
  const auto mixed = [](std::uint64_t sum, std::int64_t part) {
    return (sum ^ static_cast<std::uint64_t>(part)) * odd;
  };
  return mixed(mixed(mixed(odd, slot.mono_ns), slot.step), slot.attempt);
}

}  // namespace

std::string heartbeat_file(const std::string& run_directory) { return run_directory + "/heartbeats"; }

std::int64_t heartbeat_offset(Rank rank) {
  return std::int64_t{rank.value} * static_cast<std::int64_t>(heartbeat_bytes);
}

HeartbeatSlot encode_heartbeat(const Heartbeat& beat) {
  Slot slot{beat.mono_ns, beat.step, beat.attempt, 0};
  slot.check = check_of(slot);
  HeartbeatSlot bytes;
  std::memcpy(bytes.data(), &slot, sizeof slot);
  return bytes;
}

std::optional<Heartbeat> decode_heartbeat(std::string_view bytes) {
  Slot slot{};
  if (bytes.size() != sizeof slot) return std::nullopt;
  std::memcpy(&slot, bytes.data(), sizeof slot);
  if (slot.check != check_of(slot) || slot.attempt < 0 || slot.attempt > INT32_MAX) return std::nullopt;
  return Heartbeat{slot.mono_ns, slot.step, static_cast<std::int32_t>(slot.attempt)};
}

std::optional<Heartbeat> heartbeat_of(std::string_view file, Rank rank, Attempt attempt) {
  const auto offset = static_cast<std::size_t>(heartbeat_offset(rank));
  if (rank.value < 0 || offset >= file.size()) return std::nullopt;
  const auto beat = decode_heartbeat(file.substr(offset, heartbeat_bytes));
  return beat && beat->attempt == attempt.value ? beat : std::nullopt;
}

}  // namespace forklift
