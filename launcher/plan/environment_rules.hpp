// The rules that give replicas their environment, one per concern; each reads what was planned so far and adds to the
// draft.
//
// Three classes of variables: identity is always forklift's, tuning yields to what the user exported, and what belongs
// to one framework is set only when that framework was asked for.
#pragma once

#include <string>
#include <vector>

#include "forklift/plan.hpp"
#include "launcher/plan/devices.hpp"
#include "launcher/plan/environment_draft.hpp"
#include "launcher/plan/placement.hpp"
#include "launcher/plan/ranks.hpp"
#include "launcher/plan/rendezvous.hpp"

namespace forklift {

/// Everything that is planned before the environment. Owns nothing.
struct EnvironmentInputs {
  const LaunchRequest& request;
  const HostFacts& host;
  const Environment& inherited;
  const WorldShape& world;
  const Devices& devices;
  const std::vector<std::string>& device_of_each;  ///< By local rank; empty unless each replica sees one.
  const Placement& placement;
  const Rendezvous& rendezvous;
  ProgramKind program_kind = ProgramKind::native;
  const std::string& run_id;
};

/// Whether replicas get the variables of torch and accelerate.
bool wants_torch(const LaunchRequest& request);

void add_forklift_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft);    ///< FORKLIFT_*
void add_identity_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft);    ///< RANK family, MASTER_*
void add_elastic_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft);     ///< ROLE_*, TORCHELASTIC_*
void add_accelerate_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft);  ///< ACCELERATE_*
void add_device_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft);  ///< --cpu, --gpu-ids, one each
void add_tuning_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft);  ///< OMP_*, KMP_*, PYTHON*, GLOO_*
void add_jax_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft);     ///< with --framework jax
void add_tensorflow_variables(const EnvironmentInputs& inputs,
                              EnvironmentDraft& draft);                              ///< with --framework tensorflow
void add_proxy_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft);  ///< no_proxy, NO_PROXY

/// All rules in order, then the user's `--env`.
EnvironmentDraft plan_environment(const EnvironmentInputs& inputs);

/// f(local rank) for every replica of this node, for EnvironmentDraft::set_each.
template <class F>
std::vector<std::string> for_each_replica(const WorldShape& world, F value_of) {
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(world.local_world_size));
  for (int local = 0; local < world.local_world_size; ++local) values.push_back(value_of(LocalRank{local}));
  return values;
}

}  // namespace forklift
