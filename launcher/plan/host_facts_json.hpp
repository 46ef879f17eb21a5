// HostFacts as JSON: what `forklift env --format json` prints and `--host-facts FILE` reads.
#pragma once

#include <string>
#include <string_view>

#include "forklift/host_facts.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// All facts, two spaces of indentation, a newline at the end. "cpu_quota" and "memory_limit_bytes" are null if
/// unlimited.
std::string host_facts_to_json(const HostFacts& facts);

/// Strict: a key that is not known, a value of another type or out of range, or a CPU named twice is an error (usage)
/// that names the place, what was seen and what was expected. "version" must be 1; facts that are left out keep their
/// defaults.
Result<HostFacts> host_facts_from_json(std::string_view text);

}  // namespace forklift
