#include "worker/format/byte_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace forklift {

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t step = 1024;
  if (bytes < step) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  amount /= static_cast<double>(step);
  while (amount >= 1023.95 && unit + 1 < units.size()) {  // 1023.95 would already print as 1024.0
    amount /= static_cast<double>(step);
    ++unit;
  }
  return fmt::format("{:.1f} {}", amount, units[unit]);
}

}  // namespace forklift
