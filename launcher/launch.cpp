#include "launcher/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "launcher/plan/host_facts_json.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "launcher/system/accelerate_config.hpp"
#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/guard.hpp"
#include "launcher/system/host_facts_reader.hpp"
#include "launcher/system/limits.hpp"
#include "launcher/system/model_size_reader.hpp"
#include "launcher/system/ports.hpp"
#include "launcher/system/program_lookup.hpp"
#include "launcher/system/run_directory.hpp"
#include "launcher/system/run_history.hpp"

namespace forklift {
namespace {

Terminals terminals() {
  if (::isatty(STDIN_FILENO) == 0) return Terminals::none;
  return ::isatty(STDOUT_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0 ? Terminals::all : Terminals::input_only;
}

/// A port that the user fixed must be free on the node that serves it, or every replica would fail a minute later.
Result<void> check_fixed_ports(const Plan& plan) {
  if (plan.node_rank.value != 0) return {};
  for (const PortPlan& port : plan.ports) {
    if (port.port == 0 || port_is_free(port.port)) continue;
    const auto holder = holder_of_port(port.port);
    const std::string by = !holder            ? "by a process that cannot be seen from here"
                           : holder->pid == 0 ? "by a process of another user"
                                              : fmt::format("by {} (pid {})", holder->command, holder->pid);
    return Error{ErrorKind::usage,
                 fmt::format("port {} ({}) is in use {}; end that process, choose another port, or leave the "
                             "port out and forklift finds a free one",
                             port.port, port.name, by)};
  }
  return {};
}

/// What the user asked for; else no colour where the environment says so (no-color.org, terminals that know none).
Colour colour_for(Colour asked, const Environment& environment) {
  if (asked != Colour::automatic) return asked;
  const auto no_color = environment.find("NO_COLOR");
  if (no_color != environment.end() && !no_color->second.empty()) return Colour::never;
  const auto terminal = environment.find("TERM");
  return terminal != environment.end() && terminal->second == "dumb" ? Colour::never : asked;
}

}  // namespace

Result<HostFacts> host_facts_of(const std::string& file) {
  if (file.empty()) return read_host_facts();
  const auto text = read_file(file);
  if (!text) return Error{ErrorKind::usage, fmt::format("--host-facts: {} cannot be read or is empty", file)};
  auto facts = host_facts_from_json(*text);
  if (!facts) return Error{ErrorKind::usage, file + ": " + facts.error().message};
  return facts;
}

namespace {

/// What a user of these tools takes for granted, and this version does not do: said, not left to be noticed.
void add_warnings(const LaunchRequest& request, const Environment& environment, Plan& plan) {
  if (plan.program_kind != ProgramKind::python) return;
  const auto config = accelerate_default_config(environment);
  if (config && request.dialect == Dialect::accelerate) {
    plan.warnings.push_back(
        fmt::format("{} is not read by this version: what it says (processes, precision, …) has to be "
                    "given as flags",
                    *config));
  }
  if (plan.model) {
    plan.warnings.emplace_back("--model: a Python program cannot use it yet; C++ programs call forklift::model()");
  }
}

Result<Plan> plan_here(const LaunchRequest& request, const Environment& environment, const std::string& run_id) {
  const auto host = host_facts_of(request.host_facts_file);
  if (!host) return host.error();
  const bool here = request.host_facts_file.empty();
  const PlanInputs inputs{host.value(), environment,
                          here ? look_at_program(request.program, environment) : ProgramFile::unknown, run_id,
                          terminals()};
  if (!request.model || request.memory.check == MemoryCheck::off) return make_plan(request, inputs);
  const auto size = read_model_size(request.model->path);
  if (!size) return size.error();
  LaunchRequest with_size = request;
  with_size.memory.expected = ExpectedMemory{size.value().bytes, 0};
  return make_plan(with_size, inputs);
}

}  // namespace

Result<Plan> plan_launch(const LaunchRequest& request, const Environment& environment, const std::string& run_id) {
  auto plan = plan_here(request, environment, run_id);
  if (plan) add_warnings(request, environment, plan.value());
  return plan;
}

namespace {

Result<ModelHandle> open_model(const ModelRequest& asked) {
  ModelOptions options;
  options.access = asked.access;
  options.loading = asked.loading;
  options.observer = progress_line(asked.path);
  auto model = ModelHandle::open(asked.path, options);
  if (!model) return Error{model.error().kind, "--model: " + model.error().message, model.error().os_errno};
  return model;
}

/// What is left to do once there is a plan.
Result<RunInputs> gather_inputs(Plan plan, const LaunchRequest& request, const Environment& environment,
                                const RunClock& clock) {
  RunInputs inputs;
  inputs.clock = clock;
  inputs.started = RunClock::wall();
  inputs.plan = std::move(plan);
  if (const auto ports = check_fixed_ports(inputs.plan); !ports) return ports.error();
  if (const auto& asked = inputs.plan.model) {
    auto model = open_model(*asked);
    if (!model) return model.error();
    for (const std::string& note : model.value().notes()) inputs.plan.warnings.push_back("--model: " + note);
    inputs.model = std::move(model).value();
  }
  auto directory = create_run_directory(request.log_dir, inputs.plan.run_id, environment);
  if (!directory) return directory.error();
  inputs.run_directory = directory.value().path.string();
  for (std::string& warning : directory.value().warnings) inputs.plan.warnings.push_back(std::move(warning));
  inputs.environment = environment;
  inputs.hostname = own_hostname();
  inputs.role = request.role;
  inputs.command = request.command;
  inputs.colour = colour_for(request.colour, environment);
  inputs.chatter = request.chatter;
  return inputs;
}

}  // namespace

Result<RunInputs> prepare_run(const LaunchRequest& request, const Environment& environment, const RunClock& clock) {
  auto plan = plan_launch(request, environment, make_run_id());
  if (!plan) return plan.error();
  auto executable = find_executable(plan.value().replicas.front().argv.front(), environment);
  if (!executable) return executable.error();
  auto inputs = gather_inputs(std::move(plan).value(), request, environment, clock);
  if (inputs) inputs.value().executable = std::move(executable).value();
  return inputs;
}

Result<RunInputs> prepare_hosted_run(const LaunchRequest& request, const Environment& environment,
                                     const RunClock& clock, const HostSeat& host) {
  if (request.isolation != Isolation::none) {
    return Error{ErrorKind::usage,
                 "--isolate needs a process of its own for the job; replicas that are forked from this "
                 "program share its pid namespace"};
  }
  const HostFacts facts = read_host_facts();
  // A terminal of the host's stays the host's, and so does its standard input.
  const PlanInputs inputs{facts, environment, ProgramFile::executable, make_run_id(), Terminals::input_only};
  auto plan = make_plan(request, inputs);
  if (!plan) return plan.error();
  auto gathered = gather_inputs(std::move(plan).value(), request, environment, clock);
  if (!gathered) return gathered;
  gathered.value().host = host;
  gathered.value().open_files = raise_open_files_limit();
  return gathered;
}

int run_prepared(RunInputs inputs) {
  inputs.open_files = raise_open_files_limit();
  const GuardSettings settings{inputs.plan.interaction, inputs.plan.isolation, inputs.plan.stop.kill_timeout,
                               [&] { prune_runs(default_runs_directory(inputs.environment)); }};
  return run_guarded(settings, [&](SupervisorSeat seat) { return supervise(inputs, std::move(seat)); });
}

}  // namespace forklift
