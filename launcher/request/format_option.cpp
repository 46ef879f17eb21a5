#include "launcher/request/format_option.hpp"

#include <fmt/format.h>

#include <optional>

#include "launcher/request/option_text.hpp"

namespace forklift {
namespace {

std::optional<OutputFormat> format_of(std::string_view text) {
  if (text == "text") return OutputFormat::text;
  if (text == "json") return OutputFormat::json;
  return std::nullopt;
}

}  // namespace

Result<FormatWords> take_format(std::string_view verb, const std::vector<std::string>& words) {
  constexpr std::string_view option = "--format";
  FormatWords taken;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool joined = word.starts_with(option) && word.substr(option.size()).starts_with('=');
    if (word != option && !joined) {
      taken.rest.push_back(words[i]);
      continue;
    }
    if (!joined && i + 1 == words.size()) {
      return usage_error(fmt::format("{}: --format needs a value, expected text or json", verb));
    }
    const std::string_view value = joined ? word.substr(option.size() + 1) : std::string_view(words[++i]);
    const std::optional<OutputFormat> format = format_of(value);
    if (!format) return usage_error(fmt::format("{}: --format: got {}, expected text or json", verb, quoted(value)));
    taken.format = *format;
  }
  return taken;
}

}  // namespace forklift
