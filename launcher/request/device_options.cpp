// Devices, and the cores of replicas.
#include <fmt/format.h>

#include <algorithm>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/option_reader.hpp"
#include "launcher/request/twin_options.hpp"

namespace forklift {
namespace {

constexpr std::array<Word<CpuBinding>, 3> cpu_binding_words{
    {{"none", CpuBinding::none}, {"core", CpuBinding::core}, {"numa", CpuBinding::numa}}};

constexpr std::array<Word<CpuBinding>, 4> numa_binding_words{{{"node", CpuBinding::numa},
                                                              {"socket", CpuBinding::numa},
                                                              {"exclusive", CpuBinding::core},
                                                              {"core-complex", CpuBinding::numa}}};

/// "all", or identifiers between commas (numbers, or names such as GPU-8c1f…).
std::optional<std::string> parse_gpu_ids(std::string_view text) {
  const auto pieces = split_at(text, ',');
  const bool sound = std::ranges::none_of(
      pieces, [](std::string_view id) { return id.empty() || id.find_first_of(" \t\n") != std::string_view::npos; });
  if (!sound) return std::nullopt;
  return std::string(text);
}

void read_binding(OptionReader& reader, const GivenOptions& given, LaunchRequest& request) {
  reader.word("cpu-binding", cpu_binding_words, request.cpu_binding);
  const GivenOption* numa = given.find("numa-binding");
  if (numa == nullptr) return;
  CpuBinding mapped = request.cpu_binding;
  reader.word("numa-binding", numa_binding_words, mapped);
  if (const GivenOption* ours = given.find("cpu-binding"); ours != nullptr && mapped != request.cpu_binding)
    reader.fail(contradiction(*ours, *numa));
  request.cpu_binding = mapped;
  const std::string& word = numa->text();
  if (word == "socket" || word == "core-complex")
    request.warnings.push_back(fmt::format("{} {} is taken as --cpu-binding numa", numa->place, word));
}

}  // namespace

Result<void> fill_devices(const GivenOptions& given, LaunchRequest& request) {
  if (given.has("cpu") && given.has("multi-gpu"))
    return usage_error("--cpu and --multi-gpu contradict each other, give one of them");
  OptionReader reader(given);
  reader.when_given("cpu", request.device, DeviceChoice::cpu);
  reader.when_given("multi-gpu", request.device, DeviceChoice::gpu);
  reader.read("gpu-ids", request.gpu_ids, parse_gpu_ids, "all, or GPU numbers between commas, as 0,2");
  reader.when_given("virtual-local-rank", request.device_visibility, DeviceVisibility::virtual_local_rank);
  reader.number("num-cpu-threads-per-process", {1, 1'000'000}, request.num_cpu_threads);
  reader.when_given("enable-cpu-affinity", request.affinity_hint, AffinityHint::on);
  read_binding(reader, given, request);
  if (request.device == DeviceChoice::cpu && given.has("gpu-ids"))
    request.warnings.emplace_back("--gpu-ids has no effect: --cpu leaves no GPU visible");
  return reader.result();
}

}  // namespace forklift
