// How much a model is, from the list of its tensors or from a plain number of bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forklift {

/// One tensor as the file of a model lists it. `dtype` is in safetensors' words: "F32", "BF16", "I64", …
struct TensorSize {
  std::string name;  ///< Dotted path, as "encoder.layer.0.weight".
  std::string dtype;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

/// The module whose own tensors take most: those with one path up to the last dot.
struct LargestLayer {
  std::string name;  ///< Empty: tensors without a module.
  std::uint64_t float32_bytes = 0;
};

struct ModelSize {
  std::map<std::string, std::uint64_t> bytes_by_dtype;  ///< As stored.
  std::uint64_t bytes = 0;                              ///< As stored, which is as it is loaded.
  /// With every floating-point tensor in float32 and the others as they are: accelerate builds a model like this to
  /// estimate it.
  std::uint64_t float32_bytes = 0;
  std::uint64_t elements = 0;
  std::uint64_t tensors = 0;                  ///< 0: not known.
  std::optional<LargestLayer> largest_layer;  ///< Empty: not known.
};

/// Sums saturate at the largest number.
ModelSize model_size_of(const std::vector<TensorSize>& tensors);

/// A model of which only the bytes are known, and in which type its weights are stored: "float32", "float16" or
/// "bfloat16".
ModelSize model_size_of(std::uint64_t bytes, std::string_view dtype);

/// The product; the largest number where that does not fit.
std::uint64_t times(std::uint64_t bytes, std::uint64_t count);

}  // namespace forklift
