#include "launcher/policy/memory_watch.hpp"

#include <algorithm>

namespace forklift::policy {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

/// Less than this is what an interpreter and its libraries take, and no model.
constexpr std::uint64_t worth_watching = 128 * mebibyte;
/// A replica that grew by less since the last look is idle.
constexpr std::uint64_t idle_growth = mebibyte;
constexpr int looks_until_idle = 2;
/// Replicas are alike if the smallest holds this part of the largest.
constexpr std::uint64_t alike_divisor = 2;
/// Below this part of what there is for them it is somebody else who eats the memory.
constexpr std::uint64_t share_divisor = 3;
constexpr Duration last_horizon = std::chrono::seconds(10);

std::uint64_t together(const MemorySample& sample) {
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : sample.held) sum += bytes;
  const auto looked_at = static_cast<double>(sample.held.size());
  return static_cast<std::uint64_t>(static_cast<double>(sum) * (sample.running / looked_at));
}

double seconds_in(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

std::optional<Instant> MemoryWatch::next_look() const {
  if (second_look_at_) return second_look_at_;
  return next_ < times.size() ? std::optional<Instant>(times[next_]) : std::nullopt;
}

bool MemoryWatch::worth_a_look(const std::vector<std::uint64_t>& held) {
  return std::any_of(held.begin(), held.end(), [](std::uint64_t bytes) { return bytes >= worth_watching; });
}

/// For so long the memory has to last: a little longer than until the look after the one that is due.
Duration MemoryWatch::horizon() const {
  return next_ + 1 < times.size() ? Duration(times[next_ + 1] - times[next_]) * 5 / 4 : last_horizon;
}

std::optional<MemoryThreat> MemoryWatch::threat_in(const MemorySample& sample) const {
  if (sample.running < 2 || !worth_a_look(sample.held) || sample.at <= last_at_) return std::nullopt;
  const auto [smallest, largest] = std::minmax_element(sample.held.begin(), sample.held.end());
  const std::uint64_t total = together(sample);
  if (*smallest < *largest / alike_divisor || total <= last_together_) return std::nullopt;
  if (total < (total + sample.available) / share_divisor) return std::nullopt;
  const double growth = static_cast<double>(total - last_together_) / seconds_in(sample.at - last_at_);
  if (static_cast<double>(sample.available) > growth * seconds_in(horizon())) return std::nullopt;
  return MemoryThreat{sample.running, *smallest, *largest, total, sample.available, static_cast<std::uint64_t>(growth)};
}

void MemoryWatch::note_whether_idle(const MemorySample& sample) {
  const std::uint64_t total = together(sample);
  const std::uint64_t growth = total - std::min(total, last_together_);
  const bool idle = growth < idle_growth * static_cast<std::uint64_t>(sample.running);
  quiet_looks_ = idle ? quiet_looks_ + 1 : 0;
}

std::optional<MemoryThreat> MemoryWatch::take(const MemorySample& sample) {
  const std::optional<MemoryThreat> threat = threat_in(sample);
  const bool confirming = second_look_at_.has_value();
  if (!confirming) note_whether_idle(sample);
  last_at_ = sample.at;
  last_together_ = together(sample);
  if (threat && !confirming) {
    second_look_at_ = sample.at + second_look;
    return std::nullopt;
  }
  second_look_at_.reset();
  while (next_ < times.size() && times[next_] <= sample.at) ++next_;  // The loop may have come late.
  if (threat || quiet_looks_ >= looks_until_idle || sample.running < 2) end();
  return threat;
}

void MemoryWatch::end() {
  next_ = times.size();
  second_look_at_.reset();
}

}  // namespace forklift::policy
