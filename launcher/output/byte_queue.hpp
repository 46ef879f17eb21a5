// Bytes that wait for a slow reader: appended at the back, taken from the front. A plain value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forklift {

class ByteQueue {
 public:
  [[nodiscard]] bool empty() const { return taken_ == bytes_.size(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size() - taken_; }
  /// Valid until the next change.
  [[nodiscard]] std::string_view front() const { return std::string_view(bytes_).substr(taken_); }

  void append(std::string_view bytes) { bytes_.append(bytes); }

  /// Removes the first `count` bytes, count ≤ size(). An emptied queue gives its memory back.
  void take(std::size_t count) {
    taken_ += count;
    if (empty()) {
      clear();
    } else if (taken_ > bytes_.size() / 2) {
      // Moving only when half is free keeps the cost of a byte constant, however long the queue is.
      bytes_.erase(0, taken_);
      taken_ = 0;
    }
  }

  void clear() {
    bytes_ = std::string();
    taken_ = 0;
  }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
};

}  // namespace forklift
