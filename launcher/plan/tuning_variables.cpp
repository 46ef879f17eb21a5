// Settings that make replicas behave well together; each yields to what the user exported.
#include <fmt/format.h>

#include "launcher/plan/environment_rules.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

void add_threads(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  const char* const name = "OMP_NUM_THREADS";
  if (const auto& asked = inputs.request.num_cpu_threads) {
    draft.set(Claim::asked, name, std::to_string(*asked),
              origin_of(inputs.request, "num-cpu-threads-per-process", "--num-cpu-threads-per-process"));
    return;
  }
  const std::string origin = inputs.placement.sharing == MaskSharing::unbound
                                 ? fmt::format("{} / {}", counted(usable_cpu_budget(inputs.host), "usable CPU"),
                                               counted(inputs.world.local_world_size, "replica"))
                                 : "the replica's share of its CPU mask and of the cgroup quota";
  draft.set_each(
      Claim::suggested, name,
      for_each_replica(inputs.world,
                       [&](LocalRank local) { return std::to_string(inputs.placement.threads[local.index()]); }),
      origin);
}

/// Output in time, and a traceback when Python itself dies. A launcher script may start Python as well; only a native
/// program of no framework certainly does not want it.
void add_python(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  if (inputs.request.framework == Framework::none && inputs.program_kind == ProgramKind::native) return;
  draft.set(Claim::suggested, "PYTHONUNBUFFERED", "1", "output in time");
  draft.set(Claim::suggested, "PYTHONFAULTHANDLER", "1", "tracebacks of crashes");
}

void add_torch(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  if (inputs.placement.sharing == MaskSharing::own) {
    // Intel's OpenMP binds within the mask it finds: without a mask of its own every replica would bind to the same
    // cores.
    draft.set(Claim::suggested, "KMP_AFFINITY", "granularity=fine,compact,1,0", "every replica has CPUs of its own");
    draft.set(Claim::suggested, "KMP_BLOCKTIME", "1", "every replica has CPUs of its own");
  }
  if (inputs.world.identity == Identity::withheld) return;
  draft.set(Claim::suggested, "TORCH_NCCL_ASYNC_ERROR_HANDLING", "1", "as torchrun");
  if (inputs.rendezvous.reach == Reach::loopback) {
    // gloo otherwise resolves the host's name, which fails in many containers.
    draft.set(Claim::suggested, "GLOO_SOCKET_IFNAME", "lo", "all replicas are on this machine");
  }
}

}  // namespace

void add_tuning_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  add_threads(inputs, draft);
  add_python(inputs, draft);
  if (wants_torch(inputs.request)) add_torch(inputs, draft);
}

}  // namespace forklift
