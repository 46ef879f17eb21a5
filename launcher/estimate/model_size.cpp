#include "launcher/estimate/model_size.hpp"

#include <algorithm>
#include <limits>

namespace forklift {
namespace {

constexpr std::uint64_t float32_width = 4;

std::uint64_t sum(std::uint64_t left, std::uint64_t right) {
  return right > std::numeric_limits<std::uint64_t>::max() - left ? std::numeric_limits<std::uint64_t>::max()
                                                                  : left + right;
}

bool is_floating(std::string_view dtype) { return dtype.starts_with('F') || dtype.starts_with("BF"); }

std::uint64_t float32_bytes_of(const TensorSize& tensor) {
  return is_floating(tensor.dtype) ? times(tensor.elements, float32_width) : tensor.bytes;
}

std::string module_of(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

/// The name of the type in safetensors' words, and its width in bytes.
struct StoredType {
  std::string_view word;
  std::uint64_t width = float32_width;
};

StoredType stored_type(std::string_view dtype) {
  if (dtype == "float16") return {"F16", 2};
  if (dtype == "bfloat16") return {"BF16", 2};
  return {"F32", float32_width};
}

}  // namespace

std::uint64_t times(std::uint64_t bytes, std::uint64_t count) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return count != 0 && bytes > most / count ? most : bytes * count;
}

ModelSize model_size_of(const std::vector<TensorSize>& tensors) {
  ModelSize size;
  std::map<std::string, std::uint64_t> modules;
  for (const TensorSize& tensor : tensors) {
    const std::uint64_t float32_bytes = float32_bytes_of(tensor);
    std::uint64_t& of_dtype = size.bytes_by_dtype[tensor.dtype];
    of_dtype = sum(of_dtype, tensor.bytes);
    std::uint64_t& of_module = modules[module_of(tensor.name)];
    of_module = sum(of_module, float32_bytes);
    size.bytes = sum(size.bytes, tensor.bytes);
    size.float32_bytes = sum(size.float32_bytes, float32_bytes);
    size.elements = sum(size.elements, tensor.elements);
  }
  size.tensors = tensors.size();
  const auto largest = std::max_element(modules.begin(), modules.end(),
                                        [](const auto& left, const auto& right) { return left.second < right.second; });
  if (largest != modules.end()) size.largest_layer = LargestLayer{largest->first, largest->second};
  return size;
}

ModelSize model_size_of(std::uint64_t bytes, std::string_view dtype) {
  const StoredType type = stored_type(dtype);
  ModelSize size;
  size.bytes_by_dtype.emplace(type.word, bytes);
  size.bytes = bytes;
  size.elements = bytes / type.width;
  size.float32_bytes = type.width == float32_width ? bytes : times(size.elements, float32_width);
  return size;
}

}  // namespace forklift
