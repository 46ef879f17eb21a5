// The command line of `forklift estimate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forklift/request.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// One of `model_path` and `bytes` is given, never both.
struct EstimateRequest {
  std::string model_path;
  std::optional<std::uint64_t> bytes;
  std::string dtype = "float32";  ///< Of the weights that `bytes` counts: float32, float16 or bfloat16.
  int processes = 1;              ///< 1 … 1,000,000, on one machine.
  OutputFormat format = OutputFormat::text;
  std::string host_facts_file;  ///< Empty: this machine.
};

/// The words after `estimate`. Errors: usage, with the option and the value.
Result<EstimateRequest> parse_estimate(const std::vector<std::string>& words);

}  // namespace forklift
