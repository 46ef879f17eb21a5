// What `accelerate launch` tells its workers beside their identity.
#include <array>

#include "launcher/plan/environment_rules.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

const char* name_of(MixedPrecision precision) {
  switch (precision) {
    case MixedPrecision::unset:
    case MixedPrecision::no:
      return "no";
    case MixedPrecision::fp16:
      return "fp16";
    case MixedPrecision::bf16:
      return "bf16";
    case MixedPrecision::fp8:
      return "fp8";
  }
  return "no";
}

struct DynamoSetting {
  const char* option;
  const char* variable;
  std::string Dynamo::*value;
};

constexpr std::array<DynamoSetting, 5> dynamo_settings = {{
    {"dynamo-backend", "ACCELERATE_DYNAMO_BACKEND", &Dynamo::backend},
    {"dynamo-mode", "ACCELERATE_DYNAMO_MODE", &Dynamo::mode},
    {"dynamo-use-fullgraph", "ACCELERATE_DYNAMO_USE_FULLGRAPH", &Dynamo::use_fullgraph},
    {"dynamo-use-dynamic", "ACCELERATE_DYNAMO_USE_DYNAMIC", &Dynamo::use_dynamic},
    {"dynamo-use-regional-compilation", "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION",
     &Dynamo::use_regional_compilation},
}};

}  // namespace

void add_accelerate_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  const LaunchRequest& request = inputs.request;
  if (!wants_torch(request)) return;
  const bool precision_given = request.mixed_precision != MixedPrecision::unset;
  draft.set(precision_given ? Claim::asked : Claim::suggested, "ACCELERATE_MIXED_PRECISION",
            name_of(request.mixed_precision),
            origin_of(request, "mixed-precision", precision_given ? "--mixed-precision" : "default"));
  const Dynamo defaults;
  for (const DynamoSetting& setting : dynamo_settings) {
    const std::string& value = request.dynamo.*(setting.value);
    const bool given = was_given(request, setting.option) || value != defaults.*(setting.value);
    draft.set(given ? Claim::asked : Claim::suggested, setting.variable, value,
              origin_of(request, setting.option, given ? std::string("--") + setting.option : "default"));
  }
  if (request.accelerate_debug == AccelerateDebug::on) {
    draft.set(Claim::asked, "ACCELERATE_DEBUG_MODE", "true", origin_of(request, "debug", "--debug"));
  }
  if (request.affinity_hint == AffinityHint::on) {
    draft.set(Claim::asked, "ACCELERATE_CPU_AFFINITY", "1",
              origin_of(request, "enable-cpu-affinity", "--enable-cpu-affinity"));
  }
}

}  // namespace forklift
