#include "worker/model/pack.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "worker/model/file_io.hpp"

namespace forklift::weights {
namespace {

/// Steps through the elements of a shape, the last index first.
class Elements {
 public:
  explicit Elements(const CheckedTensor& tensor)
      : shape_(tensor.shape), strides_(tensor.strides), index_(tensor.shape.size(), 0) {}

  /// Of the present element, in elements from the first.
  [[nodiscard]] std::uint64_t place() const { return place_; }

  void next() {
    for (std::size_t i = shape_.size(); i-- > 0;) {
      place_ += strides_[i];
      if (++index_[i] < shape_[i]) return;
      place_ -= strides_[i] * shape_[i];
      index_[i] = 0;
    }
  }

 private:
  const std::vector<std::uint64_t>& shape_;
  const std::vector<std::uint64_t>& strides_;
  std::vector<std::uint64_t> index_;
  std::uint64_t place_ = 0;
};

}  // namespace

int pack(const CheckedTensor& tensor, int destination, std::uint64_t offset) {
  constexpr std::size_t elements_at_once = 32768;
  const std::size_t size = facts_of(tensor.dtype).bits / 8U;
  const auto* const first = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(tensor.address));
  std::vector<std::byte> buffer(elements_at_once * size);
  Elements elements(tensor);
  for (std::uint64_t left = tensor.row_major_bytes / size; left > 0;) {
    const std::uint64_t count = std::min<std::uint64_t>(left, elements_at_once);
    for (std::uint64_t i = 0; i < count; ++i, elements.next()) {
      std::memcpy(buffer.data() + i * size, first + elements.place() * size, size);
    }
    const Transferred written = write_at(destination, buffer.data(), count * size, offset);
    if (written.bytes != count * size) return written.os_errno;
    offset += count * size;
    left -= count;
  }
  return 0;
}

}  // namespace forklift::weights
