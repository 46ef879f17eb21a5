// LaunchRequest: what the user asked for, after command line, environment and defaults were merged.
//
// A plain value: copy it, compare it, print it. `origins` says for every option where its value came from; `warnings`
// are sentences for the user. Durations are nanoseconds (std::chrono), counts are plain ints within the stated range.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "forklift/diagnosis.hpp"
#include "forklift/environment.hpp"
#include "forklift/ids.hpp"
#include "forklift/model_options.hpp"

namespace forklift {

using Duration = std::chrono::nanoseconds;

/// How PROGRAM is turned into a command.
enum class RunAs {
  automatic,  ///< `.py`, or a regular file without execute permission: by PYTHON; else directly.
  module,     ///< `-m`: PYTHON -u -m PROGRAM
  direct,     ///< `--no-python`
};

/// How many replicas.
struct ProcessesUnset {};  ///< Usable accelerators, else 1.
struct ProcessesInTotal {
  int count = 1;
};  ///< accelerate: over all machines. 1 … 1,000,000
struct ProcessesPerNode {
  int count = 1;
};                                             ///< torchrun: on each machine. 1 … 1,000,000
enum class CountedBy { automatic, cpu, gpu };  ///< torchrun's `--nproc-per-node auto|cpu|gpu`
struct ProcessesPerNodeCounted {
  CountedBy by = CountedBy::automatic;
};
using ProcessCount = std::variant<ProcessesUnset, ProcessesInTotal, ProcessesPerNode, ProcessesPerNodeCounted>;

/// Whose rules hold where the two peers differ (world size 1, the default configuration file).
enum class Dialect { accelerate, torchrun };

/// Which framework's own variables are added. `automatic` is torch's set and nothing framework-specific.
enum class Framework { automatic, torch, jax, tensorflow, none };

enum class DeviceChoice { automatic, cpu, gpu };
enum class MixedPrecision { unset, no, fp16, bf16, fp8 };
enum class CpuBinding { none, core, numa };
/// How replicas come into being: each by executing PROGRAM, or forked from one PROGRAM at its fork point.
enum class StartMethod { spawn, from_template };
enum class Isolation { none, requested };
enum class OutputFormat { text, json };
enum class RunMode { run, dry_run };
enum class ArgumentExpansion { literal, expand };  ///< `--expand-arguments`: {rank} and {local_rank} in arguments.
enum class DeviceVisibility { whole_list, virtual_local_rank };
enum class Colour { automatic, always, never };
enum class Chatter { normal, quiet };
enum class AccelerateDebug { off, on };
enum class AffinityHint { off, on };  ///< `--enable-cpu-affinity` → ACCELERATE_CPU_AFFINITY=1

/// Which of the two output streams; torchrun's digits 0 … 3.
enum class Streams { none = 0, standard_output = 1, standard_error = 2, both = 3 };

/// torchrun's `--redirects` / `--tee`: one value for all, or a map from local rank.
struct StreamMask {
  Streams others = Streams::none;
  std::map<LocalRank, Streams> by_local_rank;
  [[nodiscard]] Streams of(LocalRank rank) const {
    const auto found = by_local_rank.find(rank);
    return found == by_local_rank.end() ? others : found->second;
  }
};

/// accelerate's five dynamo settings, as text for the environment.
struct Dynamo {
  std::string backend = "NO";
  std::string mode = "default";
  std::string use_fullgraph = "False";
  std::string use_dynamic = "False";
  std::string use_regional_compilation = "False";
};

/// The stop ladder: polite signal, `shutdown_timeout`, SIGKILL, `kill_timeout`, then forklift names what it left.
struct StopRules {
  Duration shutdown_timeout = std::chrono::seconds(30);  ///< ≥ 0; 0 means SIGKILL at once.
  Duration kill_timeout = std::chrono::seconds(10);
};

struct RestartRules {
  int max_restarts = 0;            ///< 0 … 1,000,000
  std::optional<Duration> window;  ///< `--restart-window`: only restarts within it count against the budget.
  std::optional<std::vector<Category>> only_on;  ///< `--restart-on`; empty optional: all but out_of_memory.
};

struct TimeRules {
  std::optional<Duration> limit;  ///< `--time-limit`
  int checkpoint_signal = 0;      ///< Sent `checkpoint_lead` before the limit; 0: none.
  Duration checkpoint_lead = std::chrono::seconds(60);
};

/// `--model`: opened once by the launcher, inherited by every replica (SharedModel::from_environment()).
struct ModelRequest {
  std::string path;  ///< A .safetensors file, an index, or a folder with either.
  ModelAccess access = ModelAccess::read;
  ModelLoading loading = ModelLoading::map;
};

/// `--memory-check`: what is done when the replicas' memory cannot fit on their machine.
enum class MemoryCheck {
  warn,    ///< One warning, before the start or in the first seconds of an attempt.
  refuse,  ///< No start; what shows only after the start is a warning all the same.
  off,     ///< Nothing is computed and nothing sampled.
};

/// What a job is expected to take on each machine, as far as that is known before the start.
struct ExpectedMemory {
  std::uint64_t shared_bytes = 0;   ///< Held once for all replicas of a machine, as a shared model.
  std::uint64_t private_bytes = 0;  ///< Held by each replica beside it.
};

struct MemoryRules {
  MemoryCheck check = MemoryCheck::warn;
  std::optional<ExpectedMemory> expected;  ///< Empty: not known, and nothing is said before the start.
};

struct LaunchRequest {
  // What to run.
  std::string program;
  std::vector<std::string> arguments;
  RunAs run_as = RunAs::automatic;
  std::string python;  ///< `--python`; empty: the active virtual environment's, else python3.
  ArgumentExpansion expand_arguments = ArgumentExpansion::literal;

  // How many, and where.
  Dialect dialect = Dialect::accelerate;
  ProcessCount processes = ProcessesUnset{};
  int num_machines = 1;                  ///< 1 … 100,000
  std::optional<NodeRank> machine_rank;  ///< Required when num_machines > 1.
  std::string main_process_ip;           ///< Empty: 127.0.0.1 on one machine.
  std::optional<int> main_process_port;  ///< 0: find a free one; empty: free on one machine, 29500 on several.
  StartMethod start_method = StartMethod::spawn;
  DeviceChoice device = DeviceChoice::automatic;
  std::string gpu_ids;  ///< "" or "all": every one; else a comma list.
  DeviceVisibility device_visibility = DeviceVisibility::whole_list;

  // What replicas see.
  Framework framework = Framework::automatic;
  MixedPrecision mixed_precision = MixedPrecision::unset;
  Dynamo dynamo;
  std::optional<int> num_cpu_threads;  ///< `--num-cpu-threads-per-process` → OMP_NUM_THREADS
  CpuBinding cpu_binding = CpuBinding::none;
  AffinityHint affinity_hint = AffinityHint::off;
  AccelerateDebug accelerate_debug = AccelerateDebug::off;
  std::vector<EnvironmentVariable> extra_environment;  ///< `--env K=V`, in the order given; they win over everything.
  std::string role = "default";
  std::string rdzv_id = "none";

  std::optional<ModelRequest> model;

  // Output.
  std::string log_dir;  ///< Empty: the state directory.
  StreamMask redirects;
  StreamMask tee;
  std::vector<LocalRank> console_ranks;        ///< `--local-ranks-filter`; empty: all.
  std::optional<std::string> prefix_template;  ///< Empty optional: `[${rank}] ` when N > 1; empty text: no prefix.
  Colour colour = Colour::automatic;
  std::optional<Rank> interactive_rank;  ///< Gets the terminal. Empty: rank 0 of a world of 1 on a terminal.
  Chatter chatter = Chatter::normal;

  // Supervision.
  StopRules stop;
  RestartRules restart;
  TimeRules time;
  Isolation isolation = Isolation::none;
  MemoryRules memory;

  // The plan only.
  RunMode mode = RunMode::run;
  OutputFormat format = OutputFormat::text;
  std::string host_facts_file;  ///< Empty: this machine.

  std::map<std::string, std::string>
      origins;  ///< option (long name without dashes) → e.g. "command line: --nproc-per-node 4".
  std::vector<std::string> warnings;
  std::vector<std::string> command;  ///< The user's own words, for the report.
};

}  // namespace forklift
