// `forklift estimate`: the estimate in words and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/estimate/memory_estimate.hpp"

namespace forklift {

/// What the estimate is about: the path that was given, or empty if only a size was.
struct EstimateSubject {
  std::string model_path;
  std::string hostname;
};

/// At most 80 columns where names allow it. Ends with a newline.
std::string estimate_text(const MemoryEstimate& estimate, const EstimateSubject& subject);

/// {"version":1, "model":{"path", "bytes", "bytes_by_dtype", "elements", "tensors", "largest_layer":{"name",
/// "float32_bytes"}}, "hostname", "num_processes", "memory":{"usable_bytes", "bound_by":"machine"|"control_group"},
/// "ways":[{"way", "copies", "bytes", "fits"}], "most_processes_with_a_copy_each", "shared_model_fits",
/// "precisions":[{"dtype", "largest_layer_bytes", "total_bytes", "training_bytes"}]}. What is not known is null.
std::string estimate_json(const MemoryEstimate& estimate, const EstimateSubject& subject);

/// As accelerate writes sizes: steps of 1024, two decimals, "bytes", "KB", "MB", "GB", "TB", "PB". "413.18 MB"
std::string convert_bytes(std::uint64_t bytes);

}  // namespace forklift
