#include "launcher/output/prefix.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace forklift {
namespace {

std::optional<std::string> value_of(std::string_view name, const PrefixValues& values) {
  if (name == "rank") return std::to_string(values.rank.value);
  if (name == "local_rank") return std::to_string(values.local_rank.value);
  if (name == "role_name" || name == "role") return values.role;
  if (name == "host") return values.host;
  return std::nullopt;
}

/// Foreground colours that can be read on a dark and on a light background; neighbouring ranks differ clearly. Red is
/// left out: it means trouble.
constexpr std::array colours = {36, 33, 35, 32, 34, 96, 93, 95, 92, 94};

}  // namespace

std::string expand_prefix(std::string_view prefix_template, const PrefixValues& values) {
  std::string expanded;
  while (!prefix_template.empty()) {
    const std::size_t open = prefix_template.find("${");
    const std::size_t close = open == std::string_view::npos ? open : prefix_template.find('}', open);
    if (close == std::string_view::npos) break;
    expanded.append(prefix_template.substr(0, open));
    const std::string_view name = prefix_template.substr(open + 2, close - open - 2);
    if (const auto value = value_of(name, values)) {
      expanded.append(*value);
      prefix_template.remove_prefix(close + 1);
    } else {
      // Only the "${" is passed over: another macro may begin before the brace that was found.
      expanded.append("${");
      prefix_template.remove_prefix(open + 2);
    }
  }
  return expanded.append(prefix_template);
}

std::string colour_prefix(const std::string& prefix, Rank rank) {
  if (prefix.empty()) return prefix;
  return fmt::format("\x1b[{}m{}\x1b[0m", colours[rank.index() % colours.size()], prefix);
}

}  // namespace forklift
