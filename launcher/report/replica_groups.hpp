// Replicas that ended alike, folded into one line: "ranks 0-1, 3-63: stopped by forklift (SIGTERM)".
#pragma once

#include <string>
#include <vector>

#include "forklift/report.hpp"

namespace forklift {

/// "rank 3"; "ranks 0-1, 3-63". Ranks ascend. Beyond sixteen ranges: the first ones and how many there are in all.
std::string rank_ranges(const std::vector<int>& ranks);

/// One line per kind of end, of all replicas but the root cause, in the order of their lowest ranks.
std::vector<std::string> other_replicas(const RunReport& report);

}  // namespace forklift
