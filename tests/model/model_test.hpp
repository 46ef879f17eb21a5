// The fixture of all tests of models: a folder for their files, and the check that nothing is left.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "forklift/shared_model.hpp"
#include "tests/model/forked.hpp"
#include "tests/model/memory_maps.hpp"
#include "tests/model/sample_model.hpp"
#include "tests/support/leak_check.hpp"

namespace forklift::support {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif

class ModelTest : public LeakChecked {
 protected:
  /// Writes a model file; returns its path.
  std::string write(const std::string& name, const std::vector<SampleTensor>& tensors,
                    const Metadata& metadata = {}) const {
    return folder_.write(name, model_bytes(tensors, metadata)).string();
  }
  std::string write_bytes(const std::string& name, std::string_view bytes) const {
    return folder_.write(name, bytes).string();
  }
  /// A file with one tensor `zeros` of so many bytes, none of which takes room on the disk.
  std::string write_zeros(const std::string& name, std::uint64_t size) const {
    const std::string count = std::to_string(size);
    const std::string path = write_bytes(name, safetensors_file(R"({"zeros":{"dtype":"U8","shape":[)" + count +
                                                                R"(],"data_offsets":[0,)" + count + "]}}"));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + size);
    return path;
  }
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }

  /// A model that must open; without it the test cannot go on.
  static SharedModel opened(const std::string& path, const ModelOptions& options = {}) {
    auto model = SharedModel::open(path, options);
    if (!model) throw std::runtime_error(model.error().message);
    return std::move(model).value();
  }

 private:
  TemporaryDirectory folder_;
};

/// The message of a model that must not open.
inline std::string refusal(const std::string& path, const ModelOptions& options = {}) {
  const auto model = SharedModel::open(path, options);
  return model.ok() ? "opened" : model.error().message;
}

inline std::string text_of(const TensorView& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace forklift::support
