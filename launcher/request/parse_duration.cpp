// parse_duration() of value_text.hpp: enough rules for a file of their own.
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "launcher/request/value_text.hpp"

namespace forklift {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration longest = hours(24) * 3650;

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> parse_digits(std::string_view text) {
  if (!all_digits(text)) return std::nullopt;
  std::int64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

/// `count` times `unit`, unless that is longer than we accept.
std::optional<Duration> times(std::int64_t count, Duration unit) {
  if (count > longest / unit) return std::nullopt;
  return count * unit;
}

// Digits after the point, read in integers: 0.1 s is 100,000,000 ns and not a nanosecond less.
std::optional<Duration> fraction_of(Duration unit, std::string_view digits) {
  if (!all_digits(digits)) return std::nullopt;
  Duration sum{0};
  Duration place = unit;
  for (const char c : digits) {
    place /= 10;
    sum += place * (c - '0');
  }
  return sum;
}

std::optional<Duration> parse_clock(std::string_view text) {
  const std::vector<std::string_view> parts = split_at(text, ':');
  if (parts.size() != 3 || parts[1].size() != 2 || parts[2].size() != 2) return std::nullopt;
  const auto h = parse_digits(parts[0]);
  const auto m = parse_digits(parts[1]);
  const auto s = parse_digits(parts[2]);
  if (!h || !m || !s || *m > 59 || *s > 59) return std::nullopt;
  const std::optional<Duration> whole_hours = times(*h, hours(1));
  if (!whole_hours) return std::nullopt;
  return *whole_hours + minutes(*m) + seconds(*s);
}

/// Takes the unit's letter off the text; seconds if there is none.
Duration take_unit(std::string_view& text) {
  Duration unit = seconds(1);
  if (text.ends_with('m')) unit = minutes(1);
  if (text.ends_with('h')) unit = hours(1);
  if (text.ends_with('s') || text.ends_with('m') || text.ends_with('h')) text.remove_suffix(1);
  return unit;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return parse_clock(text);
  const Duration unit = take_unit(text);
  const std::size_t point = text.find('.');
  const auto count = parse_digits(text.substr(0, point));
  if (!count) return std::nullopt;
  const std::optional<Duration> whole = times(*count, unit);
  if (!whole || point == std::string_view::npos) return whole;
  const std::optional<Duration> fraction = fraction_of(unit, text.substr(point + 1));
  if (!fraction) return std::nullopt;
  return *whole + *fraction;
}

}  // namespace forklift
