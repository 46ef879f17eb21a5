// Tensors of some framework, as they lie in memory, laid out as one region: what SharedModel::Builder thinks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forklift/model_builder.hpp"
#include "forklift/result.hpp"
#include "worker/format/model_layout.hpp"

namespace forklift {

/// A SourceTensor whose sizes are known to be right.
struct CheckedTensor {
  std::string name;
  Dtype dtype = Dtype::u8;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  ///< In elements; empty: row-major.
  std::uint64_t address = 0;           ///< Of its first element.
  std::uint64_t bytes = 0;             ///< From there to the end of the last element.
  std::uint64_t row_major_bytes = 0;
  std::uint64_t storage = 0;
};

/// All that can be said about one tensor without the others.
Result<CheckedTensor> check_source(SourceTensor tensor);

/// What goes into the region.
struct SourceRun {
  std::uint64_t address = 0;
  std::uint64_t destination = 0;
  std::uint64_t length = 0;
  std::optional<std::size_t>
      packed;  ///< Elements of this tensor, put into row-major order; else the bytes as they are.
};

struct SourceLayout {
  std::vector<ModelTensor> tensors;  ///< In the order in which they were given.
  std::vector<SourceRun> runs;       ///< By destination.
  std::uint64_t length = 0;
  std::vector<std::string> notes;  ///< Which tensors are packed.
};

/// Names are unique.
Result<SourceLayout> lay_out(const std::vector<CheckedTensor>& tensors);

}  // namespace forklift
