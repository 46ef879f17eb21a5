// Plan: everything that will happen, as data. `--dry-run` prints exactly what the supervisor runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/host_facts.hpp"
#include "forklift/ids.hpp"
#include "forklift/request.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// What is known of PROGRAM's file before the start. With --host-facts nothing is known (`Unknown`).
enum class ProgramFile { unknown, missing, directory, executable, not_executable };

/// Where one output stream of a replica goes.
enum class StreamRoute {
  console,           ///< Piped to the launcher, prefixed, printed.
  file,              ///< The replica's own descriptor (`--redirects`).
  console_and_file,  ///< Piped, printed, and copied byte for byte (`--tee`).
  kept_only,         ///< Piped; only the tail is kept (`--local-ranks-filter` leaves it out).
  terminal,          ///< The launcher's own descriptor (the interactive rank).
};

enum class StdinRoute { null_device, inherited };

/// A port that the job needs. `port` 0: a free one is found for every attempt.
struct PortPlan {
  std::string name;  ///< "master", "coordinator", "worker0", …
  int port = 0;
};

struct ReplicaPlan {
  Rank rank;
  LocalRank local_rank;
  NodeRank node_rank;
  std::vector<std::string> argv;
  std::vector<EnvironmentVariable> environment;  ///< Beside Plan::environment; wins over it.
  std::vector<int> cpus;                         ///< Affinity mask; empty: the launcher's own.
  StdinRoute standard_input = StdinRoute::null_device;
  StreamRoute standard_output = StreamRoute::console;
  StreamRoute standard_error = StreamRoute::console;
};

enum class Interaction { none, terminal };
enum class ProgramKind { native, python };  ///< python: PROGRAM runs by PYTHON.

/// Values of `EnvironmentVariable::value` in a plan may hold these placeholders; `resolve()` replaces them per attempt:
///   ${attempt}   the attempt's number
///   ${run_dir}   the run directory
///   ${port.NAME} the port named NAME
struct Plan {
  std::string run_id;  ///< YYYYMMDD-HHMMSS-xxxxxx; empty in a dry run.
  StartMethod start_method = StartMethod::spawn;
  int world_size = 1;
  int num_nodes = 1;
  NodeRank node_rank;
  std::string master_address;
  std::vector<PortPlan> ports;  ///< Ports that this node provides or refers to; fixed ones are checked first.
  std::vector<EnvironmentVariable> environment;  ///< The same for every replica.
  std::vector<std::string> unset;                ///< Variables removed from what is inherited.
  std::vector<ReplicaPlan> replicas;             ///< Those of this node, by local rank.
  Framework framework = Framework::automatic;
  ProgramKind program_kind = ProgramKind::native;
  std::string prefix_template;  ///< Empty: no prefix.
  Interaction interaction = Interaction::none;
  std::optional<Rank> interactive_rank;
  StopRules stop;
  RestartRules restart;
  TimeRules time;
  MemoryRules memory;
  Isolation isolation = Isolation::none;
  std::optional<ModelRequest> model;
  std::string log_dir;  ///< `--log-dir` as given; empty: the state directory.
  std::map<std::string, std::string> origins;
  std::vector<std::string> warnings;
};

/// Which of the launcher's standard streams are terminals.
enum class Terminals {
  none,        ///< stdin is not one.
  input_only,  ///< stdin is, stdout or stderr is not.
  all,         ///< stdin, stdout and stderr are.
};

/// What planning needs to know beside the request; all of it data, none of it looked up here.
struct PlanInputs {
  const HostFacts& host;
  const Environment& environment;  ///< The launcher's own.
  ProgramFile program = ProgramFile::unknown;
  std::string run_id;  ///< Empty in a dry run.
  Terminals terminals = Terminals::none;
};

/// The plan, or one sentence about why there is none (usage, not_found, not_executable).
Result<Plan> make_plan(const LaunchRequest& request, const PlanInputs& inputs);

/// Values known only when an attempt starts.
struct AttemptValues {
  Attempt attempt;
  std::string run_directory;
  std::vector<int> ports;  ///< In the order of Plan::ports.
};

/// The environment that forklift sets for one replica of one attempt, placeholders replaced, sorted by name.
std::vector<EnvironmentVariable> resolve_environment(const Plan& plan, const ReplicaPlan& replica,
                                                     const AttemptValues& values);

/// Its two parts: what all replicas share, and what is this replica's own and wins. For replicas that are forked from a
/// process which has the first part already.
std::vector<EnvironmentVariable> group_environment(const Plan& plan, const AttemptValues& values);
std::vector<EnvironmentVariable> own_environment(const Plan& plan, const ReplicaPlan& replica,
                                                 const AttemptValues& values);

}  // namespace forklift
