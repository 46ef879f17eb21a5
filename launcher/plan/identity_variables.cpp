// Who a replica is, and where it meets the others: what every framework's env:// reads.
#include <array>

#include "launcher/plan/environment_rules.hpp"

namespace forklift {
namespace {

constexpr std::array identity_names = {"RANK",       "LOCAL_RANK",  "WORLD_SIZE",       "LOCAL_WORLD_SIZE", "NODE_RANK",
                                       "GROUP_RANK", "MASTER_ADDR", "GROUP_WORLD_SIZE", "MASTER_PORT"};

std::string text(int number) { return std::to_string(number); }

}  // namespace

void add_identity_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  const WorldShape& world = inputs.world;
  if (world.identity == Identity::withheld) {
    for (const char* name : identity_names) draft.remove_identity(name);
    return;
  }
  const bool virtual_rank = inputs.request.device_visibility == DeviceVisibility::virtual_local_rank &&
                            inputs.devices.sight == DeviceSight::one_each;
  const std::string place = "the replica's place in the job";
  const std::string shape = "the shape of the job";
  draft.set_each(Claim::ours, "RANK",
                 for_each_replica(world, [&](LocalRank local) { return text(rank_of(world, local).value); }), place);
  draft.set_each(Claim::ours, "LOCAL_RANK",
                 for_each_replica(world, [&](LocalRank local) { return text(virtual_rank ? 0 : local.value); }),
                 virtual_rank ? "--virtual-local-rank" : place);
  draft.set(Claim::ours, "WORLD_SIZE", text(world.world_size), shape);
  draft.set(Claim::ours, "LOCAL_WORLD_SIZE", text(world.local_world_size), shape);
  draft.set(Claim::ours, "NODE_RANK", text(world.node_rank.value), shape);  // Lightning's word for GROUP_RANK
  draft.set(Claim::ours, "GROUP_RANK", text(world.node_rank.value), shape);
  draft.set(Claim::ours, "GROUP_WORLD_SIZE", text(world.num_nodes), shape);
  draft.set(Claim::ours, "MASTER_ADDR", inputs.rendezvous.master.host, inputs.rendezvous.host_origin);
  draft.set(Claim::ours, "MASTER_PORT", inputs.rendezvous.master.port, inputs.rendezvous.port_origin);
}

}  // namespace forklift
