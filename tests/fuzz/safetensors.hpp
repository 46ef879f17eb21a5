// For any bytes: a safetensors file is refused with a sentence, or its tensors follow each other from the end of the
// header to the end of the file, each as large as its type and shape.
#pragma once

#include <string_view>
#include <variant>

#include "tests/formats/safetensors_reader.hpp"
#include "tests/fuzz/promise.hpp"
#include "worker/format/tensor_size.hpp"

namespace forklift::fuzz {

inline void check_safetensors(std::string_view file) {
  const auto header = support::read_safetensors(file, "f");
  if (!header) {
    const std::string& message = header.error().message;
    promise(message.starts_with("'f' is no valid safetensors file: "), "an error names the file");
    promise(message.find('\n') == std::string::npos, "an error is one line");
    promise(message.size() < 1000, "an error is short");
    return;
  }
  std::uint64_t end = 0;
  for (const SafetensorsEntry& tensor : header.value().tensors) {
    promise(tensor.begin == end, "tensors follow each other");
    const auto size = tensor_bytes(tensor.dtype, tensor.shape);
    promise(std::holds_alternative<std::uint64_t>(size), "a tensor has a size");
    promise(tensor.end - tensor.begin == std::get<std::uint64_t>(size), "a tensor has the size of its type and shape");
    end = tensor.end;
  }
  promise(header.value().data_begin + end == file.size(), "the last tensor ends with the file");
}

}  // namespace forklift::fuzz
