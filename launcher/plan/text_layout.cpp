#include "launcher/plan/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forklift {
namespace {

bool is_plain(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte >= 0x80 ||
         std::string_view("_-./:=,+@%{}$").find(character) != std::string_view::npos;
}

bool is_control(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte < 0x20 || byte == 0x7f;
}

std::string with_escapes(std::string_view word) {
  std::string escaped;
  for (const char character : word) {
    if (character == '\'' || character == '\\') escaped += '\\';
    escaped += character;
  }
  return "$'" + printable(escaped) + "'";
}

}  // namespace

std::string wrapped(std::string_view first, const std::vector<std::string>& words) {
  std::string text(first);
  std::size_t column = first.size();
  bool at_start = true;
  for (const std::string& word : words) {
    if (!at_start && column + 1 + word.size() > text_width) {
      text += '\n' + std::string(first.size(), ' ');
      column = first.size();
    } else if (!at_start) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    at_start = false;
  }
  return text + '\n';
}

std::string printable(std::string_view text) {
  std::string safe;
  for (const char character : text) {
    safe += is_control(character) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(character))
                                  : std::string(1, character);
  }
  return safe;
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  if (std::any_of(word.begin(), word.end(), is_control)) return with_escapes(word);
  std::string quoted = "'";
  for (const char character : word) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? std::to_string(numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace forklift
