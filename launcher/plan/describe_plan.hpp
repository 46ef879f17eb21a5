// `--dry-run`: the plan in words and as JSON.
//
// Values that are known only when an attempt starts are shown as the first attempt's (0), as `auto` (a port that will
// be found), and as they stand (${run_dir}).
#pragma once

#include <string>

#include "forklift/plan.hpp"

namespace forklift {

/// What supervises the job and where its files go, one line each, as far as it was asked for; part of plan_text.
std::string supervision_text(const Plan& plan);

/// For people: what is common once, then what differs between replicas, then origins and warnings. At most 80 columns
/// where values allow it; a world of many replicas is cut short. Ends with a newline.
std::string plan_text(const Plan& plan);

/// The dry run: {"version":1, "run_id", "start_method", "world_size", "replicas":[{"rank", "local_rank",
/// "node_rank", "argv", "env", "unset", "cpus"}], "origins", "warnings"}. `env` is all that forklift sets for the
/// replica; `run_id` is null in a dry run. Bytes that are no UTF-8 are shown as U+FFFD. Ends with a newline.
std::string plan_json(const Plan& plan);

}  // namespace forklift
