// LaunchRequest + host facts → Plan.
#include <fmt/format.h>

#include <utility>

#include "forklift/plan.hpp"
#include "launcher/plan/devices.hpp"
#include "launcher/plan/environment_rules.hpp"
#include "launcher/plan/memory_check.hpp"
#include "launcher/plan/placement.hpp"
#include "launcher/plan/program.hpp"
#include "launcher/plan/ranks.hpp"
#include "launcher/plan/rendezvous.hpp"
#include "launcher/plan/streams.hpp"

namespace forklift {
namespace {

/// A node cannot restart the group alone, and nodes cannot talk to each other yet.
Result<void> check_restarts(const LaunchRequest& request) {
  if (request.num_machines == 1 || request.restart.max_restarts == 0) return {};
  return Error{ErrorKind::usage,
               fmt::format("--max-restarts {} works on one machine only: {} machines cannot agree on a "
                           "restart; expected 0",
                           request.restart.max_restarts, request.num_machines)};
}

void append(std::vector<std::string>& all, const std::vector<std::string>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

/// What the request says and planning only hands on.
Plan copied_from(const LaunchRequest& request, const PlanInputs& inputs) {
  Plan plan;
  plan.run_id = inputs.run_id;
  plan.start_method = request.start_method;
  plan.framework = request.framework;
  plan.stop = request.stop;
  plan.restart = request.restart;
  plan.time = request.time;
  plan.memory = request.memory;
  plan.isolation = request.isolation;
  plan.model = request.model;
  plan.log_dir = request.log_dir;
  plan.origins = request.origins;
  plan.warnings = request.warnings;
  return plan;
}

void put_world(Plan& plan, const LaunchRequest& request, const WorldShape& world) {
  plan.world_size = world.world_size;
  plan.num_nodes = world.num_nodes;
  plan.node_rank = world.node_rank;
  if (world.notice) plan.warnings.push_back(*world.notice);
  if (world.count_origin.empty()) return;
  const bool asked = std::holds_alternative<ProcessesPerNodeCounted>(request.processes);
  std::string& origin = plan.origins[asked ? "nproc-per-node" : "num-processes"];
  origin = asked && !origin.empty() ? fmt::format("{}: {}", origin, world.count_origin) : world.count_origin;
}

void put_rendezvous(Plan& plan, const WorldShape& world, Rendezvous rendezvous) {
  const bool meets = world.identity == Identity::told || !rendezvous.ports.empty();
  if (meets) plan.master_address = std::move(rendezvous.master.host);
  plan.ports = std::move(rendezvous.ports);
}

void put_streams(Plan& plan, StreamsPlan streams) {
  plan.prefix_template = std::move(streams.prefix_template);
  if (!streams.prefix_origin.empty()) plan.origins["log-line-prefix-template"] = std::move(streams.prefix_origin);
  plan.interactive_rank = streams.interactive_rank;
  plan.interaction = streams.interactive_rank ? Interaction::terminal : Interaction::none;
  append(plan.warnings, streams.warnings);
}

void put_program(Plan& plan, const ProgramCommand& command) {
  plan.program_kind = command.kind;
  if (!command.python_origin.empty()) plan.origins["python"] = command.python_origin;
  append(plan.warnings, command.warnings);
}

std::vector<ReplicaPlan> plan_replicas(const LaunchRequest& request, const WorldShape& world,
                                       const ProgramCommand& command, Placement& placement,
                                       const StreamsPlan& streams) {
  std::vector<ReplicaPlan> replicas(static_cast<std::size_t>(world.local_world_size));
  for (int local = 0; local < world.local_world_size; ++local) {
    const LocalRank local_rank{local};
    ReplicaPlan& replica = replicas[local_rank.index()];
    replica.local_rank = local_rank;
    replica.rank = rank_of(world, local_rank);
    replica.node_rank = world.node_rank;
    replica.argv = argv_of(command, request.expand_arguments, replica.rank, local_rank);
    if (!placement.masks.empty()) replica.cpus = std::move(placement.masks[local_rank.index()]);
    const ReplicaStreams& own = streams.replicas[local_rank.index()];
    replica.standard_input = own.standard_input;
    replica.standard_output = own.standard_output;
    replica.standard_error = own.standard_error;
  }
  return replicas;
}

}  // namespace

Result<Plan> make_plan(const LaunchRequest& request, const PlanInputs& inputs) {
  const auto restarts = check_restarts(request);
  if (!restarts) return restarts.error();
  auto devices = usable_devices(request, inputs.host, inputs.environment);
  if (!devices) return devices.error();
  const auto world = shape_world(request, inputs.host, devices.value());
  if (!world) return world.error();
  const auto device_of = device_of_each(request, devices.value(), world.value().local_world_size);
  if (!device_of) return device_of.error();
  auto placement = place_replicas(request.cpu_binding, inputs.host, devices.value(), world.value().local_world_size);
  if (!placement) return placement.error();
  auto rendezvous = plan_rendezvous(request, world.value());
  if (!rendezvous) return rendezvous.error();
  auto streams = plan_streams(request, world.value(), inputs.terminals);
  if (!streams) return streams.error();
  const auto command = plan_program(request, inputs);
  if (!command) return command.error();
  auto memory = check_memory(request.memory, inputs.host, world.value().local_world_size);
  if (!memory) return memory.error();

  Plan plan = copied_from(request, inputs);
  put_world(plan, request, world.value());
  put_program(plan, command.value());
  append(plan.warnings, devices.value().warnings);
  append(plan.warnings, placement.value().warnings);
  if (memory.value()) plan.warnings.push_back(*std::move(memory).value());
  plan.replicas = plan_replicas(request, world.value(), command.value(), placement.value(), streams.value());
  plan_environment({request, inputs.host, inputs.environment, world.value(), devices.value(), device_of.value(),
                    placement.value(), rendezvous.value(), command.value().kind, inputs.run_id})
      .move_into(plan);
  put_streams(plan, std::move(streams).value());
  put_rendezvous(plan, world.value(), std::move(rendezvous).value());
  return plan;
}

}  // namespace forklift
