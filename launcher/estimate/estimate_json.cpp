#include <nlohmann/json.hpp>

#include "launcher/estimate/describe_estimate.hpp"

namespace forklift {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

const char* name_of(StartWay way) {
  switch (way) {
    case StartWay::built_in_each:
      return "built_in_each";
    case StartWay::forked_read:
      return "forked_read";
    case StartWay::forked_written:
      return "forked_written";
    case StartWay::pickled:
      return "pickled";
    case StartWay::one_after_another:
      return "one_after_another";
    case StartWay::shared:
      return "shared";
  }
  return "";
}

bool fits(const WayEstimate& estimate) { return estimate.fit == WayEstimate::Fit::yes; }

Json model_json(const ModelSize& model, const EstimateSubject& subject) {
  Json layer = nullptr;
  if (model.largest_layer) {
    layer = {{"name", model.largest_layer->name}, {"float32_bytes", model.largest_layer->float32_bytes}};
  }
  return {{"path", subject.model_path.empty() ? Json(nullptr) : Json(subject.model_path)},
          {"bytes", model.bytes},
          {"bytes_by_dtype", model.bytes_by_dtype},
          {"elements", model.elements},
          {"tensors", model.tensors == 0 ? Json(nullptr) : Json(model.tensors)},
          {"largest_layer", std::move(layer)}};
}

}  // namespace

std::string estimate_json(const MemoryEstimate& estimate, const EstimateSubject& subject) {
  Json ways = Json::array();
  for (const WayEstimate& one : estimate.ways) {
    ways.push_back({{"way", name_of(one.way)}, {"copies", one.copies}, {"bytes", one.bytes}, {"fits", fits(one)}});
  }
  Json precisions = Json::array();
  for (const PrecisionEstimate& row : estimate.precisions) {
    precisions.push_back({{"dtype", row.dtype},
                          {"largest_layer_bytes", or_null(row.largest_layer)},
                          {"total_bytes", row.total},
                          {"training_bytes", or_null(row.training)}});
  }
  const bool machine = estimate.room.bound == MemoryRoom::Bound::machine;
  const Json document = {
      {"version", 1},
      {"model", model_json(estimate.model, subject)},
      {"hostname", subject.hostname},
      {"num_processes", estimate.processes},
      {"memory", {{"usable_bytes", estimate.room.bytes}, {"bound_by", machine ? "machine" : "control_group"}}},
      {"ways", std::move(ways)},
      {"most_processes_with_a_copy_each", most_processes_with_copies(estimate)},
      {"shared_model_fits", fits(estimate_of(estimate, StartWay::shared))},
      {"precisions", std::move(precisions)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace forklift
