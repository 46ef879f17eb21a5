// What torch elastic's agent tells its workers.
#include <array>

#include "launcher/plan/environment_rules.hpp"
#include "launcher/plan/placeholders.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

/// TORCHELASTIC_SIGNALS_TO_HANDLE is not among them: it is the user's, and is inherited as it is.
constexpr std::array elastic_names = {"ROLE_RANK",
                                      "ROLE_WORLD_SIZE",
                                      "ROLE_NAME",
                                      "TORCHELASTIC_RUN_ID",
                                      "TORCHELASTIC_RESTART_COUNT",
                                      "TORCHELASTIC_MAX_RESTARTS",
                                      "TORCHELASTIC_USE_AGENT_STORE",
                                      "TORCHELASTIC_ERROR_FILE"};

}  // namespace

void add_elastic_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  const WorldShape& world = inputs.world;
  const LaunchRequest& request = inputs.request;
  if (!wants_torch(request) || world.identity == Identity::withheld) {
    for (const char* name : elastic_names) draft.remove_identity(name);
    return;
  }
  const auto rank_text = [&](LocalRank local) { return std::to_string(rank_of(world, local).value); };
  draft.set_each(Claim::ours, "ROLE_RANK", for_each_replica(world, rank_text), "the replica's place in the job");
  draft.set(Claim::ours, "ROLE_WORLD_SIZE", std::to_string(world.world_size), "the shape of the job");
  draft.set(Claim::ours, "ROLE_NAME", request.role, origin_of(request, "role", "default"));
  draft.set(Claim::ours, "TORCHELASTIC_RUN_ID", request.rdzv_id, origin_of(request, "rdzv-id", "default"));
  draft.set(Claim::ours, "TORCHELASTIC_RESTART_COUNT", std::string(attempt_placeholder), "the attempt's number");
  draft.set(Claim::ours, "TORCHELASTIC_MAX_RESTARTS", std::to_string(request.restart.max_restarts),
            origin_of(request, "max-restarts", "default"));
  // forklift serves no store: with True every rank would wait for one for ever. With False rank 0 serves it.
  draft.set(Claim::ours, "TORCHELASTIC_USE_AGENT_STORE", "False", "rank 0 serves the store");
  draft.set_each(Claim::ours, "TORCHELASTIC_ERROR_FILE",
                 for_each_replica(world,
                                  [&](LocalRank local) {
                                    return std::string(run_directory_placeholder) + "/errors/" +
                                           std::string(attempt_placeholder) + "-" + rank_text(local) + ".json";
                                  }),
                 "the run directory");
}

}  // namespace forklift
