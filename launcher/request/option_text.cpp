#include "launcher/request/option_text.hpp"

#include <fmt/format.h>

namespace forklift {

std::string quoted(std::string_view word) {
  constexpr std::size_t longest_shown = 60;
  std::string text = "'";
  for (const char c : word.substr(0, longest_shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  if (word.size() > longest_shown) text += "...";
  return text + "'";
}

}  // namespace forklift
