#include "launcher/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "launcher/plan/host_facts_json.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/guard.hpp"
#include "launcher/system/host_facts_reader.hpp"
#include "launcher/system/limits.hpp"
#include "launcher/system/ports.hpp"
#include "launcher/system/program_lookup.hpp"
#include "launcher/system/run_directory.hpp"

namespace forklift {
namespace {

Result<HostFacts> host_facts_for(const LaunchRequest& request) {
  if (request.host_facts_file.empty()) return read_host_facts();
  const auto text = read_file(request.host_facts_file);
  if (!text) {
    return Error{ErrorKind::usage, fmt::format("--host-facts: {} cannot be read or is empty", request.host_facts_file)};
  }
  auto facts = host_facts_from_json(*text);
  if (!facts) return Error{ErrorKind::usage, request.host_facts_file + ": " + facts.error().message};
  return facts;
}

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

Result<Plan> plan_launch(const LaunchRequest& request, const Environment& environment, const std::string& run_id) {
  const auto host = host_facts_for(request);
  if (!host) return host.error();
  const bool here = request.host_facts_file.empty();
  const PlanInputs inputs{host.value(), environment,
                          here ? look_at_program(request.program, environment) : ProgramFile::unknown, run_id,
                          terminals()};
  return make_plan(request, inputs);
}

Result<RunInputs> prepare_run(const LaunchRequest& request, const Environment& environment, const RunClock& clock) {
  RunInputs inputs;
  inputs.clock = clock;
  inputs.started = RunClock::wall();
  auto plan = plan_launch(request, environment, make_run_id());
  if (!plan) return plan.error();
  inputs.plan = std::move(plan).value();
  auto executable = find_executable(inputs.plan.replicas.front().argv.front(), environment);
  if (!executable) return executable.error();
  inputs.executable = std::move(executable).value();
  if (const auto ports = check_fixed_ports(inputs.plan); !ports) return ports.error();
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

int run_prepared(RunInputs inputs) {
  inputs.open_files = raise_open_files_limit();
  const GuardSettings settings{inputs.plan.interaction, inputs.plan.isolation, inputs.plan.stop.kill_timeout};
  return run_guarded(settings, [&](SupervisorSeat seat) { return supervise(inputs, std::move(seat)); });
}

}  // namespace forklift
