#include <nlohmann/json.hpp>

#include "launcher/plan/describe_plan.hpp"
#include "launcher/plan/merged_environment.hpp"
#include "launcher/plan/shown_value.hpp"

namespace forklift {
namespace {

using Json = nlohmann::ordered_json;

Json replica_json(const Plan& plan, const ReplicaPlan& replica) {
  Json environment = Json::object();
  for (const EnvironmentVariable& variable : merged_environment(plan, replica)) {
    environment[variable.name] = shown_value(plan, variable.value);
  }
  return {
      {"rank", replica.rank.value}, {"local_rank", replica.local_rank.value}, {"node_rank", replica.node_rank.value},
      {"argv", replica.argv},       {"env", std::move(environment)},          {"unset", plan.unset},
      {"cpus", replica.cpus}};
}

}  // namespace

std::string plan_json(const Plan& plan) {
  Json replicas = Json::array();
  for (const ReplicaPlan& replica : plan.replicas) replicas.push_back(replica_json(plan, replica));
  const Json document = {{"version", 1},
                         {"run_id", plan.run_id.empty() ? Json(nullptr) : Json(plan.run_id)},
                         {"start_method", name_of(plan.start_method)},
                         {"world_size", plan.world_size},
                         {"replicas", std::move(replicas)},
                         {"origins", plan.origins},
                         {"warnings", plan.warnings}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace forklift
