// For any bytes: an index is refused with a sentence, or names files below its own folder and agrees with headers that
// hold exactly what it says.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/fuzz/promise.hpp"
#include "worker/format/safetensors_index.hpp"

namespace forklift::fuzz {

inline void check_safetensors_index(std::string_view bytes) {
  const auto index = parse_safetensors_index(bytes, "i");
  if (!index) {
    promise(index.error().message.starts_with("'i' is no valid index of safetensors files: "),
            "an error names the index");
    promise(index.error().message.find('\n') == std::string::npos, "an error is one line");
    return;
  }
  for (const std::string& file : index.value().files) {
    promise(!file.empty() && file.front() != '/' && !file.starts_with("../") && file != "..",
            "a file stays in the folder");
  }
  promise(std::is_sorted(index.value().weight_map.begin(), index.value().weight_map.end()), "the map is in order");
  std::vector<SafetensorsHeader> headers(index.value().files.size());
  for (const auto& [tensor, file] : index.value().weight_map) {
    promise(file < headers.size(), "a tensor is in one of the files");
    headers[file].tensors.push_back({tensor, Dtype::u8, {0}, 0, 0});
  }
  promise(forklift::check_safetensors_index(index.value(), headers, "i").ok(),
          "files that hold what the map says agree with it");
  headers.front().tensors.push_back({"", Dtype::u8, {0}, 0, 0});
  headers.front().tensors.push_back({"", Dtype::u8, {0}, 0, 0});
  promise(!forklift::check_safetensors_index(index.value(), headers, "i").ok(), "a tensor too many is found");
}

}  // namespace forklift::fuzz
