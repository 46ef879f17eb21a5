// Small models on disk, and the tensors that they are made of.
#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/safetensors_bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift::support {

/// One tensor of a file that is to be written.
struct SampleTensor {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::string data;
};

/// A tensor of F32 with these elements.
inline SampleTensor floats(std::string name, const std::vector<float>& elements) {
  std::string data(elements.size() * sizeof(float), '\0');
  if (!data.empty()) std::memcpy(data.data(), elements.data(), data.size());
  return {std::move(name), "F32", {elements.size()}, std::move(data)};
}

/// A tensor of U8 with `count` bytes that tell their places.
inline SampleTensor bytes_tensor(std::string name, std::size_t count) {
  return {std::move(name), "U8", {count}, counting_bytes(count)};
}

using Metadata = std::map<std::string, std::string>;

/// The bytes of a safetensors file as its own writer makes them: padded to 8. `padding` adds spaces.
inline std::string model_bytes(const std::vector<SampleTensor>& tensors, const Metadata& metadata = {},
                               std::size_t padding = 0) {
  std::string header = "{";
  std::string data;
  const auto separate = [&] { header += header.size() > 1 ? "," : ""; };
  if (!metadata.empty()) {
    header += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata)
      header += (header.back() == '{' ? "\"" : ",\"") + key + "\":\"" + value + "\"";
    header += "}";
  }
  for (const SampleTensor& tensor : tensors) {
    separate();
    std::string shape;
    for (const std::uint64_t dimension : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(dimension);
    header += "\"" + tensor.name + "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + tensor.data.size()) + "]}";
    data += tensor.data;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8 + padding, ' ');
  return safetensors_file(header, data);
}

}  // namespace forklift::support
