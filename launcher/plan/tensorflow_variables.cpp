// TF_CONFIG: the whole cluster, and this worker's place in it. Set only when asked for: MirroredStrategy reads it too.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "launcher/plan/environment_rules.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {

void add_tensorflow_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  if (inputs.request.framework != Framework::tensorflow) return;
  nlohmann::json addresses = nlohmann::json::array();
  for (const MeetingPoint& worker : inputs.rendezvous.workers) addresses.push_back(worker.text());
  // An address from a command line may hold bytes that are no UTF-8; they must not stop the plan.
  const std::string workers = addresses.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  draft.set_each(Claim::ours, "TF_CONFIG",
                 for_each_replica(inputs.world,
                                  [&](LocalRank local) {
                                    return fmt::format(
                                        R"({{"cluster":{{"worker":{}}},"task":{{"type":"worker","index":{}}}}})",
                                        workers, rank_of(inputs.world, local).value);
                                  }),
                 origin_of(inputs.request, "framework", "--framework tensorflow"));
}

}  // namespace forklift
