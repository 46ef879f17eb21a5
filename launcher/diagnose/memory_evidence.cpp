#include "launcher/diagnose/memory_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  std::vector<std::pair<std::uint64_t, int>> peaks;
  for (const Ending& ending : the_case.endings) {
    if (ending.peak_rss_bytes) peaks.emplace_back(*ending.peak_rss_bytes, ending.rank.value);
  }
  const std::size_t count = std::min(shown, peaks.size());
  std::partial_sort(peaks.begin(), peaks.begin() + static_cast<std::ptrdiff_t>(count), peaks.end(),
                    [](const auto& left, const auto& right) {
                      return left.first != right.first ? left.first > right.first : left.second < right.second;
                    });
  for (std::size_t at = 0; at < count; ++at) {
    diagnosis.evidence.push_back(
        fmt::format("peak memory of rank {}: {}", peaks[at].second, format_bytes(peaks[at].first)));
  }
}

}  // namespace

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
