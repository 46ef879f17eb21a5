// The common and the own part of a replica's environment, put together.
#pragma once

#include <vector>

#include "forklift/plan.hpp"

namespace forklift {

/// Plan::environment with the replica's own over it, sorted by name; placeholders stay.
std::vector<EnvironmentVariable> merged_environment(const Plan& plan, const ReplicaPlan& replica);

}  // namespace forklift
