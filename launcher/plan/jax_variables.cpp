// What lets jax.distributed.initialize() work without arguments, and Keras' own set on top of JAX.
#include "launcher/plan/environment_rules.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {

void add_jax_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  if (inputs.request.framework != Framework::jax) return;
  const WorldShape& world = inputs.world;
  const std::string origin = origin_of(inputs.request, "framework", "--framework jax");
  const std::string coordinator = inputs.rendezvous.coordinator.text();
  const std::string world_size = std::to_string(world.world_size);
  const auto ranks =
      for_each_replica(world, [&](LocalRank local) { return std::to_string(rank_of(world, local).value); });
  const auto local_ranks = for_each_replica(world, [](LocalRank local) { return std::to_string(local.value); });

  // No release of JAX reads process numbers of its own from the environment. Its Open MPI detector comes first, so that
  // these win on TPU VMs and in Slurm steps as well; it looks at the text of the URI only if there is no coordinator
  // address.
  draft.set(Claim::ours, "JAX_COORDINATOR_ADDRESS", coordinator, origin);
  draft.set(Claim::ours, "OMPI_MCA_orte_hnp_uri", "forklift", origin);
  draft.set(Claim::ours, "OMPI_COMM_WORLD_SIZE", world_size, origin);
  draft.set_each(Claim::ours, "OMPI_COMM_WORLD_RANK", ranks, origin);
  draft.set_each(Claim::ours, "OMPI_COMM_WORLD_LOCAL_RANK", local_ranks, origin);
  if (inputs.rendezvous.reach == Reach::loopback) {
    draft.set(Claim::ours, "JAX_COORDINATOR_BIND_ADDRESS", coordinator, origin);
  } else {
    draft.remove("JAX_COORDINATOR_BIND_ADDRESS");
  }
  draft.set(Claim::ours, "KERAS_DISTRIBUTION_JOB_ADDRESSES", coordinator, origin);
  draft.set(Claim::ours, "KERAS_DISTRIBUTION_NUM_PROCESSES", world_size, origin);
  draft.set_each(Claim::ours, "KERAS_DISTRIBUTION_PROCESS_ID", ranks, origin);
  for (const char* name : {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "JOB_COMPLETION_INDEX"}) draft.remove(name);
}

}  // namespace forklift
