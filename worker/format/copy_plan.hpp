// How the parts of a model become one region: which bytes go where.
#pragma once

#include <cstdint>
#include <vector>

#include "forklift/result.hpp"
#include "worker/format/model_layout.hpp"

namespace forklift {

/// A run of bytes to be copied.
struct CopyRun {
  std::uint32_t part = 0;  ///< Of the source.
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint64_t length = 0;
  friend bool operator==(const CopyRun&, const CopyRun&) = default;
};

struct CopyPlan {
  std::vector<ModelTensor> tensors;  ///< The same ones in the same order, as parts of one region (part 0).
  std::vector<CopyRun> runs;         ///< By destination. Each storage once, headers and gaps not at all.
  std::uint64_t length = 0;          ///< Of the region.
};

/// Every storage begins at a multiple of storage_alignment. An error if the region would be larger than addresses go.
Result<CopyPlan> plan_copy(const ModelLayout& layout);

}  // namespace forklift
