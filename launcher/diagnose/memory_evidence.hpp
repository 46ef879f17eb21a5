// What is known about memory around an ending: OOM counters, limits, and who used how much.
#pragma once

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

/// Appends the counters, the limit and the largest peaks (of at most three replicas) to the evidence.
void add_memory_evidence(const FailureCase& the_case, Diagnosis& diagnosis);

}  // namespace forklift
