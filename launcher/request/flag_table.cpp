#include "launcher/request/flag_table.hpp"

#include <algorithm>
#include <array>

#include "launcher/request/plugin_flags.hpp"

namespace forklift {
namespace {

using enum Tool;
using enum FlagGroup;
using enum FlagStatus;

// One row per line reads as the table it is.
// clang-format off
constexpr auto launch_flags = std::to_array<Flag>({
    // What to run.
    {.name = "module", .letter = 'm', .tool = both_peers, .text = "PROGRAM is a Python module, run as python -u -m"},
    {.name = "no-python", .tool = both_peers, .text = "execute PROGRAM directly, whatever its name"},
    {.name = "run-path", .tool = torchrun, .text = "PROGRAM is a Python script (torchrun's runpy mode)"},
    {.name = "python", .value = "PATH", .text = "the interpreter; default: the virtual environment's, else python3", .variable = "PYTHON_EXEC"},
    {.name = "expand-arguments", .text = "replace {rank} and {local_rank} in the arguments"},
    {.name = "template", .text = "run PROGRAM once up to its fork point, fork the replicas there"},
    {.name = "main-training-function", .value = "NAME", .tool = accelerate, .status = refused, .text = "calling a function of the script"},

    // How many, and where.
    {.name = "num-processes", .value = "N", .tool = accelerate, .group = size, .text = "replicas in total, over all machines; default: one for each usable accelerator, else 1"},
    {.name = "nproc-per-node", .value = "N", .option = "num-processes", .tool = torchrun, .group = size, .text = "replicas on each machine: N, auto, cpu or gpu"},
    {.name = "num-machines", .value = "N", .tool = accelerate, .group = size, .text = "machines of the job; default 1"},
    {.name = "nnodes", .value = "N", .option = "num-machines", .tool = torchrun, .group = size, .text = "the same in torchrun's words"},
    {.name = "machine-rank", .value = "N", .tool = accelerate, .group = size, .text = "number of this machine, from 0"},
    {.name = "node-rank", .value = "N", .option = "machine-rank", .tool = torchrun, .group = size, .text = "the same in torchrun's words"},
    {.name = "main-process-ip", .value = "HOST", .tool = accelerate, .group = size, .text = "address of the machine with rank 0"},
    {.name = "master-addr", .value = "HOST", .option = "main-process-ip", .tool = torchrun, .group = size, .text = "the same in torchrun's words"},
    {.name = "main-process-port", .value = "PORT", .tool = accelerate, .group = size, .text = "port on that machine; 0: a free one. Default: free on one machine, 29500 on several"},
    {.name = "master-port", .value = "PORT", .option = "main-process-port", .tool = torchrun, .group = size, .text = "the same in torchrun's words"},
    {.name = "standalone", .tool = torchrun, .group = size, .text = "one machine, a free port"},
    {.name = "rdzv-backend", .value = "NAME", .tool = both_peers, .group = size, .text = "static, c10d, etcd or etcd-v2; ranks are static"},
    {.name = "rdzv-endpoint", .value = "HOST:PORT", .tool = torchrun, .group = size, .text = "the main process's address and port in one"},
    {.name = "rdzv-id", .value = "ID", .tool = torchrun, .group = size, .text = "TORCHELASTIC_RUN_ID of the replicas"},
    {.name = "role", .value = "NAME", .tool = both_peers, .group = size, .text = "ROLE_NAME of the replicas"},
    {.name = "same-network", .tool = accelerate, .group = size, .status = inert, .text = "every machine is told the main process's address"},
    {.name = "rdzv-conf", .value = "K=V,...", .tool = both_peers, .group = size, .status = inert, .text = "there is no rendezvous to configure, ranks are static"},
    {.name = "local-addr", .value = "HOST", .tool = torchrun, .group = size, .status = inert, .text = "machines do not announce themselves, ranks are static"},
    {.name = "mpirun-hostfile", .value = "FILE", .tool = accelerate, .group = size, .status = refused, .text = "starting through mpirun"},

    // Devices and cores.
    {.name = "cpu", .tool = accelerate, .group = device, .text = "train on the CPU"},
    {.name = "multi-gpu", .tool = accelerate, .group = device, .text = "train on GPUs, two replicas or more"},
    {.name = "gpu-ids", .value = "IDS", .tool = accelerate, .group = device, .text = "usable GPUs: all, or a list such as 0,2"},
    {.name = "virtual-local-rank", .tool = torchrun, .group = device, .text = "each replica sees only its GPU, with LOCAL_RANK 0"},
    {.name = "num-cpu-threads-per-process", .value = "N", .tool = accelerate, .group = device, .text = "OMP_NUM_THREADS; default: cores / local replicas"},
    {.name = "cpu-binding", .value = "HOW", .group = device, .text = "bind replicas to cores: none, core or numa"},
    {.name = "numa-binding", .value = "HOW", .option = "cpu-binding", .tool = torchrun, .group = device, .text = "torchrun's words: node, socket, exclusive, core-complex"},
    {.name = "enable-cpu-affinity", .tool = accelerate, .group = device, .text = "let accelerate pin each replica beside its GPU"},
    {.name = "tpu", .tool = accelerate, .group = device, .status = refused, .text = "starting on TPU"},
    {.name = "tpu-cluster", .tool = accelerate, .group = device, .status = refused, .text = "starting on a TPU pod"},
    {.name = "no-tpu-cluster", .tool = accelerate, .group = device, .status = inert, .text = "no TPU pod is started without --tpu-cluster"},

    // What replicas see.
    {.name = "framework", .value = "NAME", .group = environment, .text = "whose variables are set: auto, torch, jax, tensorflow or none"},
    {.name = "env", .value = "K=V", .tool = accelerate, .group = environment, .text = "a variable for every replica; may be repeated"},
    {.name = "model", .value = "PATH", .group = environment, .text = "safetensors that all replicas share: opened once, inherited by each"},
    {.name = "model-access", .value = "HOW", .group = environment, .text = "read (default), copy-on-write, or shared: stores are seen by all"},
    {.name = "model-loading", .value = "HOW", .group = environment, .text = "map the file (default), or copy it into memory once"},
    {.name = "mixed-precision", .value = "HOW", .tool = accelerate, .group = environment, .text = "no, fp16, bf16 or fp8"},
    {.name = "dynamo-backend", .value = "NAME", .tool = accelerate, .group = environment, .text = "torch.compile backend, such as inductor"},
    {.name = "dynamo-mode", .value = "NAME", .tool = accelerate, .group = environment, .text = "default, reduce-overhead or max-autotune"},
    {.name = "dynamo-use-fullgraph", .tool = accelerate, .group = environment, .text = "compile without graph breaks"},
    {.name = "dynamo-use-dynamic", .tool = accelerate, .group = environment, .text = "compile for dynamic shapes"},
    {.name = "dynamo-use-regional-compilation", .tool = accelerate, .group = environment, .text = "compile repeated blocks once"},
    {.name = "debug", .tool = accelerate, .group = environment, .text = "accelerate checks the shapes of collectives"},
    {.name = "downcast-bf16", .tool = accelerate, .group = environment, .status = inert, .text = "it concerns TPU only"},

    // Output.
    {.name = "log-dir", .value = "DIR", .tool = both_peers, .group = output, .text = "where the run directory is made"},
    {.name = "redirects", .letter = 'r', .value = "MASK", .tool = torchrun, .group = output, .text = "to files only: 0 none, 1 stdout, 2 stderr, 3 both; or by local rank, as 0:3,12:2"},
    {.name = "tee", .letter = 't', .value = "MASK", .tool = both_peers, .group = output, .text = "to files and the console; MASK as above"},
    {.name = "local-ranks-filter", .value = "RANKS", .tool = torchrun, .group = output, .text = "console shows these local ranks only, as 0,3"},
    {.name = "log-line-prefix-template", .value = "TEXT", .group = output, .text = "prefix of each line: ${rank}, ${local_rank}, ${role_name}, ${host}; empty: none", .variable = "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"},
    {.name = "color", .value = "WHEN", .group = output, .text = "auto, always or never"},
    {.name = "interactive-rank", .value = "N", .group = output, .text = "the replica that gets the terminal"},
    {.name = "quiet", .letter = 'q', .tool = accelerate, .group = output, .text = "no notes and warnings of forklift's own"},
    {.name = "logs-specs", .value = "NAME", .tool = torchrun, .group = output, .status = inert, .text = "log plug-ins of torchrun are Python code"},
    {.name = "event-log-handler", .value = "NAME", .tool = torchrun, .group = output, .status = inert, .text = "events are always written to events.jsonl"},

    // Supervision.
    {.name = "max-restarts", .value = "N", .tool = both_peers, .group = supervision, .text = "restarts of the whole group after a failure"},
    {.name = "restart-window", .value = "TIME", .group = supervision, .text = "count only the restarts within this time"},
    {.name = "restart-on", .value = "CAUSES", .group = supervision, .text = "restart after these only, as port_in_use,exit_code"},
    {.name = "shutdown-timeout", .value = "TIME", .tool = torchrun, .group = supervision, .text = "from the polite signal to SIGKILL; default 30 s", .variable = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT"},
    {.name = "kill-timeout", .value = "TIME", .group = supervision, .text = "wait after SIGKILL before giving up; default 10 s"},
    {.name = "time-limit", .value = "TIME", .group = supervision, .text = "stop the job when it has run so long"},
    {.name = "checkpoint-signal", .value = "SIG[@TIME]", .group = supervision, .text = "sent 60 s (or TIME) before the time limit"},
    {.name = "memory-check", .value = "HOW", .group = supervision, .text = "if N copies cannot fit into memory: warn (default), refuse or off; it looks at the replicas up to six times in their first 10 s"},
    {.name = "isolate", .group = supervision, .text = "a pid namespace: the kernel ends the job with us"},
    {.name = "start-method", .value = "NAME", .tool = torchrun, .group = supervision, .text = "template, or spawn; fork and forkserver are taken for spawn"},
    {.name = "monitor-interval", .value = "SECONDS", .tool = both_peers, .group = supervision, .status = inert, .text = "forklift does not poll, it is told at once"},
    {.name = "signals-to-handle", .value = "SIGNALS", .tool = torchrun, .group = supervision, .status = inert, .text = "forklift always handles and forwards signals, and keeps an ignored SIGHUP ignored"},

    // Planning.
    {.name = "dry-run", .group = planning, .text = "print the plan, start nothing"},
    {.name = "format", .value = "FORM", .group = planning, .text = "of the plan: text or json"},
    {.name = "host-facts", .value = "FILE", .group = planning, .text = "plan for the machine that FILE describes"},
    {.name = "config-file", .value = "FILE", .tool = accelerate, .group = planning, .text = "only none: configuration files are not read yet"},
    {.name = "help", .letter = 'h', .group = planning, .text = "this text"},
    {.name = "aws-access-key-id", .value = "KEY", .tool = accelerate, .group = planning, .status = refused, .text = "starting on SageMaker"},
    {.name = "aws-secret-access-key", .value = "KEY", .tool = accelerate, .group = planning, .status = refused, .text = "starting on SageMaker"},
});
// clang-format on

template <std::size_t N, std::size_t M>
constexpr std::array<Flag, N + M> joined(const std::array<Flag, N>& first, const std::array<Flag, M>& second) {
  std::array<Flag, N + M> all{};
  std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
  return all;
}

constexpr auto all_flags = joined(launch_flags, plugin_flags);

}  // namespace

std::span<const Flag> flag_table() { return all_flags; }

std::string torchrun_variable(const Flag& flag) {
  std::string variable = "PET_";
  for (const char c : flag.name)
    variable += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return variable;
}

}  // namespace forklift
