// Processes found by a token in their environment, whoever their parent is by now: the proof that nothing of a job is
// left.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/eventually.hpp"

namespace forklift::support {

/// A token that no other process on this machine has, to be put into the environment of what a test starts.
std::string new_marker();

/// The pids of all processes whose environment contains `marker`, this one excepted. A process that has ended but is
/// not waited for has no environment any more, so it does not count; an ordinary user sees only the own ones.
std::vector<int> marked_processes(std::string_view marker);

/// For eventually(): how many of them there are to be.
Seen marked_count_is(std::string_view marker, std::size_t expected);

}  // namespace forklift::support
