#include "launcher/request/flag_lookup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "launcher/request/option_text.hpp"

namespace forklift {
namespace {

std::string with_dashes(std::string_view name) {
  std::string dashed(name);
  std::ranges::replace(dashed, '_', '-');
  return dashed;
}

// Longer words are certainly no flag; comparing them with the whole table would only cost time.
constexpr std::size_t longest_sensible_name = 100;

std::vector<std::string> flags_that_start_with(std::string_view prefix) {
  std::vector<std::string> names;
  for (const Flag& flag : flag_table())
    if (flag.name.starts_with(prefix)) names.push_back(fmt::format("--{}", flag.name));
  return names;
}

/// nullptr if none is near: half of the letters may be wrong.
const Flag* nearest_flag(std::string_view name) {
  const auto distance = [name](const Flag& flag) { return edit_distance(name, flag.name); };
  const auto table = flag_table();
  const auto nearest = std::ranges::min_element(table, {}, distance);
  return distance(*nearest) <= std::max<std::size_t>(1, name.size() / 2) ? &*nearest : nullptr;
}

}  // namespace

const Flag* find_flag(std::string_view name) {
  const auto table = flag_table();
  const auto found = std::ranges::find(table, with_dashes(name), &Flag::name);
  return found == table.end() ? nullptr : &*found;
}

const Flag* find_flag(char letter) {
  if (letter == '\0') return nullptr;
  const auto table = flag_table();
  const auto found = std::ranges::find(table, letter, &Flag::letter);
  return found == table.end() ? nullptr : &*found;
}

std::string unknown_flag_sentence(std::string_view name) {
  const std::string dashed = with_dashes(name);
  if (dashed.empty() || dashed.size() > longest_sensible_name)
    return fmt::format("unknown flag {}; forklift launch --help lists the flags", quoted("--" + dashed));

  constexpr std::size_t shown = 3;
  std::vector<std::string> full = flags_that_start_with(dashed);
  if (full.empty()) {
    if (const Flag* nearest = nearest_flag(dashed))
      return fmt::format("unknown flag {}; the nearest known one is --{}", quoted("--" + dashed), nearest->name);
    return fmt::format("unknown flag {}; forklift launch --help lists the flags, those of PROGRAM stand after it",
                       quoted("--" + dashed));
  }
  const char* more = full.size() > shown ? ", ..." : "";
  full.resize(std::min(full.size(), shown));
  return fmt::format("unknown flag {}: flags cannot be abbreviated, write {}{}", quoted("--" + dashed),
                     fmt::join(full, " or "), more);
}

std::size_t edit_distance(std::string_view from, std::string_view to) {
  // Three rows of the usual table: the one being filled and the two above it (a swap looks two rows up).
  std::vector<std::size_t> above2(to.size() + 1);
  std::vector<std::size_t> above(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], above2[j - 2] + 1);
    }
    std::swap(above2, above);
    std::swap(above, row);
  }
  return above[to.size()];
}

}  // namespace forklift
