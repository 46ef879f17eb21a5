#include "launcher/plan/environment_rules.hpp"

#include "launcher/plan/placeholders.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {

bool wants_torch(const LaunchRequest& request) {
  switch (request.framework) {
    case Framework::automatic:
    case Framework::torch:
      return true;
    case Framework::jax:
    case Framework::tensorflow:
    case Framework::none:
      return false;
  }
  return false;
}

void add_forklift_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  draft.set(Claim::ours, "FORKLIFT_RUN_ID", inputs.run_id.empty() ? "auto" : inputs.run_id, "this run");
  draft.set(Claim::ours, "FORKLIFT_RUN_DIR", std::string(run_directory_placeholder),
            origin_of(inputs.request, "log-dir", "the state directory"));
  draft.set(Claim::ours, "FORKLIFT_ATTEMPT", std::string(attempt_placeholder), "the attempt's number");
  // Of a launch around this one: they name descriptors that our replicas do not have.
  for (const char* name : {"FORKLIFT_TEMPLATE", "FORKLIFT_CONTROL_FD", "FORKLIFT_MODEL_FD"}) {
    if (inputs.inherited.contains(name)) draft.remove(name);
  }
}

EnvironmentDraft plan_environment(const EnvironmentInputs& inputs) {
  EnvironmentDraft draft(inputs.inherited, static_cast<std::size_t>(inputs.world.local_world_size));
  for (const auto rule :
       {add_forklift_variables, add_identity_variables, add_elastic_variables, add_accelerate_variables,
        add_device_variables, add_tuning_variables, add_jax_variables, add_tensorflow_variables, add_proxy_variables}) {
    rule(inputs, draft);
  }
  draft.override_with(inputs.request.extra_environment, origin_of(inputs.request, "env", "--env"));
  return draft;
}

}  // namespace forklift
