// The door of the command line, as a function: run a job and get its report.
#pragma once

#include "forklift/environment.hpp"
#include "forklift/report.hpp"
#include "forklift/request.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// Plans and runs a job, and returns its report; a failed replica is a report, not an error. Blocks until nothing of
/// the job is left. The work is done in two forked processes (guard and supervisor), so the calling program must have
/// one thread (an error says so otherwise), keeps its own children and signal handlers, and may call this again.
/// Replicas inherit `environment`, not the calling process's own. Errors: usage, not_found, not_executable, system;
/// nothing was started then.
Result<RunReport> launch(const LaunchRequest& request, const Environment& environment);

}  // namespace forklift
