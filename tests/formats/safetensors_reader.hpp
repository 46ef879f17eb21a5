// Reads a whole safetensors file from memory, as open_model_file() reads one from disk.
#pragma once

#include <string>
#include <string_view>

#include "worker/format/safetensors.hpp"

namespace forklift::support {

inline Result<SafetensorsHeader> read_safetensors(std::string_view file, std::string_view where = "m.safetensors") {
  const auto length = safetensors_header_length(file.substr(0, safetensors_length_bytes), file.size(), where);
  if (!length) return length.error();
  return parse_safetensors_header(file.substr(safetensors_length_bytes, length.value()), file.size(), where);
}

}  // namespace forklift::support
