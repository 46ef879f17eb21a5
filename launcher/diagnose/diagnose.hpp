// Endings + evidence → the root cause. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forklift/diagnosis.hpp"
#include "forklift/outcome.hpp"
#include "forklift/plan.hpp"
#include "launcher/diagnose/evidence.hpp"

namespace forklift {

/// The ending that started the fall: the first, in the kernel's order, that failed and that we did not ask for; but an
/// ending whose own words say that it only lost a peer ("Connection reset by peer", "Connection closed by peer") yields
/// to one that fell by itself, even if seen later. Empty when nothing failed by itself.
const Ending* find_root_cause(const std::vector<Ending>& endings);

/// Explains one attempt. Empty when every replica succeeded or all failures were asked for.
std::optional<RootCause> diagnose(const Plan& plan, const std::vector<Ending>& endings,
                                  const AttemptEvidence& evidence);

}  // namespace forklift
