// One walk through /proc.
#pragma once

#include <functional>

#include "launcher/system/process_table.hpp"

namespace forklift {

/// Shows every process that can be seen to `use`, by ascending pid. It goes on into what is born meanwhile, since new
/// pids are higher ones (until they wrap around): a walk that is faster than the births ends at the youngest process.
/// Shows none where /proc tells of another pid namespace than ours.
void walk_processes(const std::function<void(ProcessEntry)>& use);

}  // namespace forklift
