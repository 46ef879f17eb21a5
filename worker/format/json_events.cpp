#include "worker/format/json_events.hpp"

#include <fmt/core.h>

#include "worker/format/quoted.hpp"

namespace forklift {

bool JsonEvents::parse_error(std::size_t position, const std::string& last_token, const nlohmann::detail::exception&) {
  syntax_error_ = fmt::format("byte {}: no JSON at {}", position, in_quotes(last_token));
  return false;
}

std::string not_an_object(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "there is nothing but blanks, a JSON object was expected";
  if (text[first] != '{') {
    return fmt::format("byte {} is {}, but a JSON object begins with '{{'", first + 1,
                       in_quotes(text.substr(first, 1)));
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) return fmt::format("byte {} is NUL", nul + 1);
  return {};
}

bool read_json(std::string_view text, JsonEvents& events) {
  return nlohmann::json::sax_parse(text.begin(), text.end(), &events);
}

}  // namespace forklift
