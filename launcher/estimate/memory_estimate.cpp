#include "launcher/estimate/memory_estimate.hpp"

#include <algorithm>
#include <array>

namespace forklift {
namespace {

constexpr std::array all_ways{StartWay::built_in_each, StartWay::forked_read,       StartWay::forked_written,
                              StartWay::pickled,       StartWay::one_after_another, StartWay::shared};

std::uint64_t copies_of(StartWay way, std::uint64_t processes) {
  switch (way) {
    case StartWay::built_in_each:
      return processes;
    case StartWay::forked_written:
      return processes + 1;  // The parent keeps the pages it had before the fork.
    case StartWay::pickled:
      return processes + 2;
    case StartWay::forked_read:
    case StartWay::one_after_another:
    case StartWay::shared:
      return 1;
  }
  return processes;
}

/// The rules of accelerate's estimate (commands/estimate.py): everything is derived from float32 by division; with
/// Adam, training peaks at four times the weights in float32 and at two times with weights in half and a master copy.
struct PrecisionRule {
  std::string_view dtype;
  std::uint64_t divisor;
  std::uint64_t training_factor;  ///< 0: is not trained.
};

constexpr std::array<PrecisionRule, 4> precision_rules{{
    {"float32", 1, 4},
    {"float16", 2, 2},
    {"int8", 4, 0},
    {"int4", 8, 0},
}};

PrecisionEstimate precision_estimate(const ModelSize& model, const PrecisionRule& rule) {
  PrecisionEstimate estimate{rule.dtype, std::nullopt, model.float32_bytes / rule.divisor, std::nullopt};
  if (model.largest_layer) estimate.largest_layer = model.largest_layer->float32_bytes / rule.divisor;
  if (rule.training_factor != 0) estimate.training = times(model.float32_bytes, rule.training_factor);
  return estimate;
}

}  // namespace

MemoryEstimate estimate_memory(const ModelSize& model, int processes, const MemoryRoom& room) {
  MemoryEstimate estimate{model, processes, room, {}, {}};
  for (const StartWay way : all_ways) {
    const std::uint64_t copies = copies_of(way, static_cast<std::uint64_t>(processes));
    const std::uint64_t bytes = times(model.bytes, copies);
    estimate.ways.push_back({way, copies, bytes, bytes <= room.bytes ? WayEstimate::Fit::yes : WayEstimate::Fit::no});
  }
  for (const PrecisionRule& rule : precision_rules) estimate.precisions.push_back(precision_estimate(model, rule));
  return estimate;
}

const WayEstimate& estimate_of(const MemoryEstimate& estimate, StartWay way) {
  return *std::find_if(estimate.ways.begin(), estimate.ways.end(),
                       [way](const WayEstimate& one) { return one.way == way; });
}

std::uint64_t most_processes_with_copies(const MemoryEstimate& estimate) {
  return estimate.model.bytes == 0 ? static_cast<std::uint64_t>(estimate.processes)
                                   : estimate.room.bytes / estimate.model.bytes;
}

}  // namespace forklift
