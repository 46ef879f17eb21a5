#include "launcher/diagnose/memory_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "launcher/diagnose/plain_text.hpp"

namespace forklift {
namespace {

using Counter = std::optional<std::uint64_t>;

bool grew(const Counter& before, const Counter& after) { return before && after && *after > *before; }
bool counted(const Counter& before, const Counter& after) { return before && after; }

void add_counter(Diagnosis& diagnosis, std::string_view whose, const Counter& before, const Counter& after) {
  if (!counted(before, after)) return;
  const std::string change =
      *before == *after ? fmt::format("stayed at {}", *after) : fmt::format("went from {} to {}", *before, *after);
  diagnosis.evidence.push_back(fmt::format("the {} counter of out-of-memory kills {}", whose, change));
}

void add_largest_peaks(const FailureCase& the_case, Diagnosis& diagnosis) {
  constexpr std::size_t shown = 3;
  std::vector<std::pair<std::uint64_t, Rank>> peaks;
  for (const Ending& ending : the_case.endings) {
    if (ending.peak_rss_bytes) peaks.emplace_back(*ending.peak_rss_bytes, ending.rank);
  }
  const std::size_t count = std::min(shown, peaks.size());
  std::partial_sort(peaks.begin(), peaks.begin() + static_cast<std::ptrdiff_t>(count), peaks.end(),
                    [](const auto& left, const auto& right) {
                      return left.first != right.first ? left.first > right.first : left.second < right.second;
                    });
  for (std::size_t at = 0; at < count; ++at) {
    diagnosis.evidence.push_back(
        fmt::format("peak memory of {}: {}", name_of(peaks[at].second), format_bytes(peaks[at].first)));
  }
}

/// The memory that a killer guards; empty: not known.
std::optional<std::uint64_t> guarded_by(OomKiller killer, const AttemptEvidence& evidence) {
  if (killer == OomKiller::cgroup) return evidence.memory_limit_bytes;
  if (killer != OomKiller::machine || evidence.memory_total_bytes == 0) return std::nullopt;
  return evidence.memory_total_bytes;
}

}  // namespace

std::optional<ManyCopies> copies_that_filled(const FailureCase& the_case, OomKiller killer) {
  constexpr std::uint64_t alike_divisor = 2;   // The smallest peak is half of the largest or more.
  constexpr std::uint64_t other_divisor = 10;  // Page tables, caches and the launcher have the rest.
  const auto guarded = guarded_by(killer, the_case.evidence);
  const std::size_t replicas = the_case.plan.replicas.size();
  if (!guarded || replicas < 2 || the_case.endings.size() != replicas) return std::nullopt;
  const auto& expected = the_case.plan.memory.expected;
  const std::uint64_t shared = expected ? expected->shared_bytes : 0;
  ManyCopies copies{static_cast<int>(replicas), std::numeric_limits<std::uint64_t>::max(), 0, 0};
  for (const Ending& ending : the_case.endings) {
    if (!ending.peak_rss_bytes) return std::nullopt;
    const std::uint64_t own = *ending.peak_rss_bytes - std::min(*ending.peak_rss_bytes, shared);
    copies.smallest = std::min(copies.smallest, own);
    copies.largest = std::max(copies.largest, own);
    copies.together += own;
  }
  const bool alike = copies.smallest >= copies.largest / alike_divisor;
  const bool filled = copies.together >= *guarded - *guarded / other_divisor;
  return alike && filled ? std::optional(copies) : std::nullopt;
}

OomKiller oom_killer_of(const AttemptEvidence& evidence) {
  const OomCounters& before = evidence.oom_before;
  const OomCounters& after = evidence.oom_after;
  if (grew(before.cgroup, after.cgroup)) return OomKiller::cgroup;
  if (grew(before.machine, after.machine)) return OomKiller::machine;
  const bool any = counted(before.cgroup, after.cgroup) || counted(before.machine, after.machine);
  return any ? OomKiller::none : OomKiller::unknown;
}

void add_memory_evidence(const FailureCase& the_case, Diagnosis& diagnosis) {
  const AttemptEvidence& evidence = the_case.evidence;
  add_counter(diagnosis, "memory group's", evidence.oom_before.cgroup, evidence.oom_after.cgroup);
  add_counter(diagnosis, "machine's", evidence.oom_before.machine, evidence.oom_after.machine);
  if (evidence.memory_limit_bytes) {
    diagnosis.evidence.push_back(fmt::format("memory limit: {}", format_bytes(*evidence.memory_limit_bytes)));
  } else if (evidence.memory_total_bytes != 0) {
    diagnosis.evidence.push_back(
        fmt::format("memory of the machine: {}, no lower limit", format_bytes(evidence.memory_total_bytes)));
  }
  add_largest_peaks(the_case, diagnosis);
}

}  // namespace forklift
