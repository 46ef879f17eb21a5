// Numbers and texts in a string of bytes, written and read with distrust: a read beyond the end, or of a value that
// does not exist, gives zero and is remembered, so that a decoder checks once at its end.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "worker/format/utf8.hpp"

namespace forklift {

template <std::unsigned_integral T>
void append_number(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i) & 0xFFU)));
  }
}

inline void append_text(std::string& bytes, std::string_view text) {
  append_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

class ByteCursor {
 public:
  /// Reads `bytes`, which must outlive it, from `position` on.
  explicit ByteCursor(std::string_view bytes, std::size_t position = 0) : bytes_(bytes), position_(position) {}

  template <std::unsigned_integral T>
  T number() {
    const std::string_view raw = take(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = raw.size(); i-- > 0;) value = value << 8U | static_cast<unsigned char>(raw[i]);
    return static_cast<T>(value);
  }

  /// UTF-8.
  std::string text() {
    const std::string_view text = take(number<std::uint32_t>());
    if (!is_utf8(text)) fail("a text that is not in UTF-8");
    return std::string(text);
  }

  /// An enumerator from 0 to `last`.
  template <class E>
  E one_of(std::uint8_t last, std::string_view what) {
    const auto value = number<std::uint8_t>();
    if (value <= last) return static_cast<E>(value);
    fail(fmt::format("{} {}, which does not exist", what, value));
    return E{};
  }

  /// How many elements of at least `smallest` bytes follow; not more than there is room for.
  std::uint64_t count(std::size_t smallest) {
    const auto value = number<std::uint32_t>();
    if (value <= (bytes_.size() - position_) / smallest) return value;
    fail(fmt::format("a count of {}, for which there is no room", value));
    return 0;
  }

  void expect_end() {
    if (position_ != bytes_.size()) fail("bytes behind its end");
  }

  [[nodiscard]] bool ok() const { return reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::string_view take(std::size_t length) {
    if (length > bytes_.size() - position_) {
      fail(fmt::format("{} bytes expected, {} are left", length, bytes_.size() - position_));
      return {};
    }
    position_ += length;
    return bytes_.substr(position_ - length, length);
  }
  void fail(std::string what) {
    if (reason_.empty()) reason_ = fmt::format("at byte {}: {}", position_, what);
  }

  std::string_view bytes_;
  std::size_t position_;
  std::string reason_;  ///< Of the first failure.
};

}  // namespace forklift
