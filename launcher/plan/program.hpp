// PROGRAM and its arguments → the words that are executed.
#pragma once

#include <string>
#include <vector>

#include "forklift/plan.hpp"

namespace forklift {

struct ProgramCommand {
  std::vector<std::string> words;  ///< argv, before {rank} and {local_rank} are replaced.
  std::size_t first_argument =
      0;  ///< Index of the first of the user's arguments; placeholders are only replaced there.
  ProgramKind kind = ProgramKind::native;
  std::string python_origin;  ///< Where PYTHON came from; empty for a native program.
  std::vector<std::string> warnings;
};

/// Decides how PROGRAM is run. Errors: usage (no PROGRAM), not_found, not_executable.
Result<ProgramCommand> plan_program(const LaunchRequest& request, const PlanInputs& inputs);

/// The argv of one replica: {rank} and {local_rank} in the user's arguments are replaced if that was asked for.
std::vector<std::string> argv_of(const ProgramCommand& command, ArgumentExpansion expansion, Rank rank,
                                 LocalRank local_rank);

}  // namespace forklift
