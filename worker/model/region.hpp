// One mapped part of a model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forklift/result.hpp"
#include "worker/format/model_layout.hpp"

namespace forklift::weights {

class Region {
 public:
  Region() = default;
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  /// Maps a whole part. An error says what the kernel refused and why that may be.
  static Result<Region> map(const ModelPart& part, ModelAccess access);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;  ///< nullptr for a part without bytes, which cannot be mapped.
  std::size_t size_ = 0;
};

}  // namespace forklift::weights
