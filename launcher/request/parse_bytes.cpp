// parse_bytes() of value_text.hpp.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "launcher/request/value_text.hpp"

namespace forklift {
namespace {

constexpr std::uint64_t largest = std::uint64_t{1} << 60U;

/// How many steps of 1024 a unit stands for: "", "B", "k", "K", "KB", "KiB", "M", … "TiB".
std::optional<int> steps_of(std::string_view unit) {
  constexpr std::string_view letters = "kmgt";
  if (unit.empty() || unit == "B" || unit == "b") return 0;
  const auto letter = letters.find(static_cast<char>(std::tolower(static_cast<unsigned char>(unit.front()))));
  if (letter == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  if (!rest.empty() && rest != "B" && rest != "b" && rest != "iB") return std::nullopt;
  return static_cast<int>(letter) + 1;
}

std::optional<std::uint64_t> whole(std::string_view digits, std::uint64_t unit) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number > largest / unit) return std::nullopt;
  return number * unit;
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end);
  const std::optional<int> steps = steps_of(text.substr(end));
  if (number.empty() || !steps) return std::nullopt;
  const std::uint64_t unit = std::uint64_t{1} << (10U * static_cast<unsigned>(*steps));
  const std::size_t point = number.find('.');
  if (point == std::string_view::npos) return whole(number, unit);
  if (*steps == 0 || point == 0 || point + 1 == number.size()) return std::nullopt;
  double amount = 0;
  const auto [stopped, error] =
      std::from_chars(number.data(), number.data() + number.size(), amount, std::chars_format::fixed);
  if (error != std::errc() || stopped != number.data() + number.size()) return std::nullopt;
  amount *= static_cast<double>(unit);
  if (amount > static_cast<double>(largest)) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(amount));
}

}  // namespace forklift
