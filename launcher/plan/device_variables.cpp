// Which accelerators a replica sees, and that it should not look for any.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/plan/environment_rules.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

/// `--cpu`: every framework is told in its own word, and CUDA shows no device to those that have none.
void hide_accelerators(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  const std::string origin = origin_of(inputs.request, "cpu", "--cpu");
  draft.set(Claim::asked, "CUDA_VISIBLE_DEVICES", "", origin);
  if (inputs.request.framework == Framework::none) return;
  draft.set(Claim::asked, "ACCELERATE_USE_CPU", "true", origin);
  draft.set(Claim::asked, "USE_TORCH_XLA", "0", origin);
  draft.set(Claim::asked, "JAX_PLATFORMS", "cpu", origin);
}

}  // namespace

void add_device_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  const Devices& devices = inputs.devices;
  if (inputs.request.device == DeviceChoice::cpu) {
    hide_accelerators(inputs, draft);
    return;
  }
  switch (devices.sight) {
    case DeviceSight::inherited:
      break;
    case DeviceSight::list:
      draft.set(Claim::asked, devices.visibility_variable, fmt::format("{}", fmt::join(devices.ids, ",")),
                devices.origin);
      break;
    case DeviceSight::one_each:
      draft.set_each(Claim::asked, devices.visibility_variable, inputs.device_of_each,
                     fmt::format("one for each replica of {} ({})", fmt::join(devices.ids, ","), devices.origin));
      break;
  }
  // Without it Accelerator() in N replicas of a host without accelerators is N silent single runs.
  if (devices.none() && inputs.request.device == DeviceChoice::automatic && wants_torch(inputs.request)) {
    draft.set(Claim::suggested, "ACCELERATE_USE_CPU", "true", "no accelerator found");
  }
}

}  // namespace forklift
