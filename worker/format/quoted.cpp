#include "worker/format/quoted.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "worker/format/utf8.hpp"

namespace forklift {
namespace {

constexpr std::size_t longest = 100;

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string shown = "'";
  while (!text.empty() && shown.size() < longest) {
    const std::size_t length = utf8_character(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool plain = length > 1 || (length == 1 && first >= 0x20 && first != 0x7F && first != '\'');
    if (plain) {
      shown += text.substr(0, length);
    } else {
      shown += fmt::format("\\x{:02x}", first);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown + (text.empty() ? "'" : "…'");
}

}  // namespace forklift
