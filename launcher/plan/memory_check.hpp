// Whether what the replicas are expected to hold can fit, said before anything is started.
#pragma once

#include <optional>
#include <string>

#include "forklift/host_facts.hpp"
#include "forklift/request.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// A warning if it cannot fit; empty if it can, or if what is needed or what there is is not known. An error (usage)
/// in its place with `--memory-check refuse`. `replicas`: those on this machine.
Result<std::optional<std::string>> check_memory(const MemoryRules& rules, const HostFacts& host, int replicas);

}  // namespace forklift
