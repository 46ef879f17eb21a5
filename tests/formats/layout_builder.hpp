// Model layouts for tests.
#pragma once

#include <string>
#include <vector>

#include "worker/format/model_layout.hpp"

namespace forklift::support {

inline ModelTensor tensor(std::string name, std::vector<std::uint64_t> shape, std::uint64_t offset,
                          std::uint32_t part = 0) {
  std::uint64_t bytes = 4;
  for (const std::uint64_t dimension : shape) bytes *= dimension;
  return {std::move(name), Dtype::f32, std::move(shape), {}, part, offset, bytes};
}

inline ModelLayout layout_of(std::vector<ModelTensor> tensors, std::size_t parts = 1) {
  ModelLayout layout;
  layout.path = "/models/m.safetensors";
  for (std::size_t i = 0; i < parts; ++i) {
    layout.parts.push_back(
        {PartKind::file, "/models/m-" + std::to_string(i), {8, 100 + i, 4096, 77}, static_cast<int>(5 + i)});
  }
  layout.tensors = std::move(tensors);
  return layout;
}

}  // namespace forklift::support
