// request → plan → supervise → report: the flow of the whole program, used by the verb `launch` and by
// forklift::launch().
#pragma once

#include <string>

#include "forklift/environment.hpp"
#include "forklift/host_facts.hpp"
#include "forklift/plan.hpp"
#include "forklift/request.hpp"
#include "forklift/result.hpp"
#include "launcher/supervise/run_inputs.hpp"

namespace forklift {

/// The machine that `file` (of --host-facts) describes; this one if it is empty.
Result<HostFacts> host_facts_of(const std::string& file);

/// Looks at the machine (or at --host-facts) and makes the plan. `run_id` is empty in a dry run.
Result<Plan> plan_launch(const LaunchRequest& request, const Environment& environment, const std::string& run_id);

/// Everything up to the first process: plan, executable, free ports, run directory. On error nothing was left behind.
Result<RunInputs> prepare_run(const LaunchRequest& request, const Environment& environment, const RunClock& clock);

/// The same for a job whose replicas are forked from a host program: what is run is a function of it, not a file.
Result<RunInputs> prepare_hosted_run(const LaunchRequest& request, const Environment& environment,
                                     const RunClock& clock, const HostSeat& host);

/// Turns this process into the guard of a supervised run and returns the exit status when nothing of the job is left.
int run_prepared(RunInputs inputs);

}  // namespace forklift
