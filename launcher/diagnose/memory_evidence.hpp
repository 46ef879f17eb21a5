// What is known about memory around an ending: OOM counters, limits, and who used how much.
#pragma once

#include <cstdint>
#include <optional>

#include "forklift/diagnosis.hpp"
#include "launcher/diagnose/case.hpp"

namespace forklift {

/// Whose out-of-memory killer was at work between the start and the end of the attempt.
enum class OomKiller {
  none,     ///< The counters did not grow.
  cgroup,   ///< A limit of our own memory cgroup was reached.
  machine,  ///< The machine ran out of memory (or another group did: the counter is shared).
  unknown,  ///< The kernel does not count here.
};

OomKiller oom_killer_of(const AttemptEvidence& evidence);

/// Replicas that held as much as each other when the memory ran out: copies of one thing.
struct ManyCopies {
  int replicas = 0;
  std::uint64_t smallest = 0;  ///< Of their peaks, in bytes, without what they share.
  std::uint64_t largest = 0;
  std::uint64_t together = 0;
};

/// All replicas of a job of two or more, if their peaks are alike and fill the memory that `killer` guards. Empty
/// where a peak, the limit or the killer is not known. Peaks hold what replicas share, so each counts without the
/// plan's shared model.
std::optional<ManyCopies> copies_that_filled(const FailureCase& the_case, OomKiller killer);

/// Appends the counters, the limit and the largest peaks (of at most three replicas) to the evidence.
void add_memory_evidence(const FailureCase& the_case, Diagnosis& diagnosis);

}  // namespace forklift
