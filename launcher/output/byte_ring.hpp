// The last N bytes of what was appended. Grows on demand up to N, then overwrites its oldest bytes. A plain value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace forklift {

class ByteRing {
 public:
  /// `limit`: N, at least 1.
  explicit ByteRing(std::size_t limit) : limit_(limit) {}

  void append(std::string_view bytes);

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  /// The newest `count` bytes (all of them, if there are fewer), in order.
  [[nodiscard]] std::string last(std::size_t count) const;

 private:
  std::vector<char> bytes_;  ///< Not a string: its reserve() may take twice what it was asked for.
  std::size_t limit_;
  std::size_t oldest_ = 0;  ///< Index of the oldest byte once bytes_ is full; 0 before.
};

}  // namespace forklift
