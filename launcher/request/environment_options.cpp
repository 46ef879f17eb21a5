// What replicas see beside their ranks.
#include <fmt/format.h>

#include <algorithm>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/option_reader.hpp"

namespace forklift {
namespace {

constexpr std::array<Word<Framework>, 5> framework_words{{{"auto", Framework::automatic},
                                                          {"torch", Framework::torch},
                                                          {"jax", Framework::jax},
                                                          {"tensorflow", Framework::tensorflow},
                                                          {"none", Framework::none}}};

constexpr std::array<Word<MixedPrecision>, 4> precision_words{{{"no", MixedPrecision::no},
                                                               {"fp16", MixedPrecision::fp16},
                                                               {"bf16", MixedPrecision::bf16},
                                                               {"fp8", MixedPrecision::fp8}}};

// accelerate's list; "torhchxla" is its own spelling. The variable holds the word in capitals.
constexpr std::array<Word<std::string_view>, 14> dynamo_backend_words{
    {{"no", "NO"},
     {"eager", "EAGER"},
     {"aot_eager", "AOT_EAGER"},
     {"inductor", "INDUCTOR"},
     {"aot_ts_nvfuser", "AOT_TS_NVFUSER"},
     {"nvprims_nvfuser", "NVPRIMS_NVFUSER"},
     {"cudagraphs", "CUDAGRAPHS"},
     {"ofi", "OFI"},
     {"fx2trt", "FX2TRT"},
     {"onnxrt", "ONNXRT"},
     {"tensorrt", "TENSORRT"},
     {"aot_torchxla_trace_once", "AOT_TORCHXLA_TRACE_ONCE"},
     {"torhchxla_trace_once", "TORHCHXLA_TRACE_ONCE"},
     {"tvm", "TVM"}}};

constexpr std::array<Word<std::string_view>, 3> dynamo_mode_words{
    {{"default", "default"}, {"reduce-overhead", "reduce-overhead"}, {"max-autotune", "max-autotune"}}};

void read_dynamo(OptionReader& reader, Dynamo& dynamo) {
  std::string_view backend = "NO";
  std::string_view mode = "default";
  reader.word("dynamo-backend", dynamo_backend_words, backend);
  reader.word("dynamo-mode", dynamo_mode_words, mode);
  dynamo.backend = backend;
  dynamo.mode = mode;
  const std::string on = "True";
  reader.when_given("dynamo-use-fullgraph", dynamo.use_fullgraph, on);
  reader.when_given("dynamo-use-dynamic", dynamo.use_dynamic, on);
  reader.when_given("dynamo-use-regional-compilation", dynamo.use_regional_compilation, on);
}

Result<void> read_extra_environment(const GivenOptions& given, LaunchRequest& request) {
  const GivenOption* option = given.find("env");
  if (option == nullptr) return {};
  for (const std::string& setting : option->values) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos)
      return usage_error(fmt::format("{}: got {}, expected NAME=VALUE", option->place, quoted(setting)));
    request.extra_environment.push_back({setting.substr(0, equals), setting.substr(equals + 1)});
  }
  return {};
}

constexpr std::array<Word<ModelAccess>, 3> access_words{
    {{"read", ModelAccess::read}, {"copy-on-write", ModelAccess::copy_on_write}, {"shared", ModelAccess::shared}}};

constexpr std::array<Word<ModelLoading>, 2> loading_words{{{"map", ModelLoading::map}, {"copy", ModelLoading::copy}}};

Result<void> read_model(const GivenOptions& given, LaunchRequest& request) {
  ModelRequest model;
  OptionReader reader(given);
  reader.text("model", model.path, "a .safetensors file, an index, or a folder with either");
  reader.word("model-access", access_words, model.access);
  reader.word("model-loading", loading_words, model.loading);
  if (given.has("model")) {
    request.model = std::move(model);
  } else {
    for (const std::string_view name : {"model-access", "model-loading"})
      if (given.has(name)) request.warnings.push_back(fmt::format("--{} has no effect without --model", name));
  }
  return reader.result();
}

}  // namespace

Result<void> fill_environment(const GivenOptions& given, LaunchRequest& request) {
  if (auto extra = read_extra_environment(given, request); !extra) return extra;
  if (auto model = read_model(given, request); !model) return model;
  OptionReader reader(given);
  reader.word("framework", framework_words, request.framework);
  reader.word("mixed-precision", precision_words, request.mixed_precision);
  read_dynamo(reader, request.dynamo);
  reader.when_given("debug", request.accelerate_debug, AccelerateDebug::on);
  return reader.result();
}

}  // namespace forklift
