#include "worker/format/exception_line.hpp"

#include <algorithm>

#include "worker/format/digits.hpp"

namespace forklift {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
/// A name such as a.b.C: what Python prints for a type. "__main__.Broken" and "Outer.<locals>.Broken" are types too,
/// and so is "std::runtime_error".
bool is_dotted_name(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == ':' || c == '<' || c == '>';
  });
}

/// The colon that ends the type: not one of a C++ "::".
std::size_t end_of_type(std::string_view text) {
  std::size_t colon = text.find(':');
  while (colon != std::string_view::npos && text.substr(colon).starts_with("::")) colon = text.find(':', colon + 2);
  return colon;
}

}  // namespace

ExceptionLine split_exception_line(std::string_view text) {
  const std::size_t colon = end_of_type(text);
  const std::string_view name = text.substr(0, colon);
  if (!is_dotted_name(name)) return {"", std::string(text)};
  if (colon == std::string_view::npos) return {std::string(name), ""};
  std::string_view message = text.substr(colon + 1);
  if (message.starts_with(' ')) message.remove_prefix(1);
  return {std::string(name), std::string(message)};
}

std::string exception_headline(const ExceptionLine& exception) {
  if (exception.type.empty()) return exception.message;
  if (exception.message.empty()) return exception.type;
  return exception.type + ": " + exception.message;
}

}  // namespace forklift
