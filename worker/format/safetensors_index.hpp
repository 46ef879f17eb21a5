// The index of a model in several safetensors files: {"metadata": {"total_size": BYTES}, "weight_map": {tensor: file}}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forklift/result.hpp"
#include "worker/format/safetensors.hpp"

namespace forklift {

struct SafetensorsIndex {
  std::vector<std::string>
      files;  ///< Relative to the index, each once, ascending. Never absolute, never above the index.
  /// Tensor and number of its file in `files`; ascending by name.
  std::vector<std::pair<std::string, std::uint32_t>> weight_map;
  std::string total_size;  ///< As it is written; empty if it is not there.
};

/// Reads an index. `where` names it in errors.
Result<SafetensorsIndex> parse_safetensors_index(std::string_view json, std::string_view where);

/// Compares the index with the headers of its files, in the order of `files`: each tensor of the map is in its file,
/// each tensor of a file is in the map. A total_size that is not the sum of all data is no error but a sentence (some
/// tools count otherwise).
Result<std::optional<std::string>> check_safetensors_index(const SafetensorsIndex& index,
                                                           const std::vector<SafetensorsHeader>& headers,
                                                           std::string_view where);

}  // namespace forklift
