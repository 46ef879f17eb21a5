// `forklift estimate`: whether a model fits N times, or once, before anything is started.
#include <algorithm>
#include <cstdio>

#include "launcher/command/verbs.hpp"
#include "launcher/estimate/describe_estimate.hpp"
#include "launcher/launch.hpp"
#include "launcher/request/help.hpp"
#include "launcher/request/parse_estimate.hpp"
#include "launcher/system/model_size_reader.hpp"

namespace forklift::command {
namespace {

constexpr int fits = 0;
constexpr int does_not_fit = 1;

Result<ModelSize> size_of(const EstimateRequest& request) {
  return request.bytes ? model_size_of(*request.bytes, request.dtype) : read_model_size(request.model_path);
}

Result<MemoryRoom> room_on(const HostFacts& host, const EstimateRequest& request) {
  if (const auto room = memory_room(host)) return *room;
  const std::string who = request.host_facts_file.empty() ? "this machine" : request.host_facts_file;
  return Error{ErrorKind::usage,
               "estimate: " + who + " does not say how much memory there is, expected memory_available_bytes"};
}

}  // namespace

int estimate(const Call& call) {
  const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(call.words.begin(), call.words.end(), is_help)) {
    std::fputs(estimate_help().c_str(), stdout);
    return 0;
  }
  const auto request = parse_estimate(call.words);
  if (!request) return fail(request.error());
  const auto model = size_of(request.value());
  if (!model) return fail(model.error());
  const auto host = host_facts_of(request.value().host_facts_file);
  if (!host) return fail(host.error());
  const auto room = room_on(host.value(), request.value());
  if (!room) return fail(room.error());

  const MemoryEstimate result = estimate_memory(model.value(), request.value().processes, room.value());
  const EstimateSubject subject{request.value().model_path, host.value().hostname};
  const bool json = request.value().format == OutputFormat::json;
  std::fputs((json ? estimate_json(result, subject) : estimate_text(result, subject)).c_str(), stdout);
  return estimate_of(result, StartWay::shared).fit == WayEstimate::Fit::yes ? fits : does_not_fit;
}

}  // namespace forklift::command
