// The last bytes of a stream, kept for the report. Grows on demand: an idle replica costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/output/byte_ring.hpp"

namespace forklift {

/// Keeps the last 8 KiB. If a line with "Traceback (most recent call last):" is met, everything from that line on is
/// kept as well, up to 64 KiB, so that a long traceback is whole (a later traceback replaces an earlier one only if
/// both do not fit).
class Tail {
 public:
  static constexpr std::size_t usual_bytes = std::size_t{8} << 10;
  static constexpr std::size_t traceback_bytes = std::size_t{64} << 10;

  void feed(std::string_view bytes);

  /// Traceback and last bytes in their order. Progress text that a '\r' overwrote is left out; a gap between the two is
  /// marked with a line that says how many bytes are missing.
  [[nodiscard]] std::string text() const;

 private:
  void record_traceback(std::string_view bytes);
  [[nodiscard]] std::optional<std::uint64_t> find_traceback(std::string_view bytes) const;
  void begin_traceback(std::string_view bytes, std::uint64_t words_at);
  void fit_traceback();
  [[nodiscard]] std::uint64_t traceback_end() const { return traceback_begin_ + traceback_.size(); }

  ByteRing recent_{usual_bytes};
  std::string traceback_;
  std::uint64_t traceback_begin_ = 0;  ///< Position in the stream of traceback_'s first byte.
  std::uint64_t seen_ = 0;             ///< Bytes of the stream so far.
};

}  // namespace forklift
