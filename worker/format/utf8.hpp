// UTF-8: what is a character, and what is none.
#pragma once

#include <cstddef>
#include <string_view>

namespace forklift {

/// How many bytes at the front of `text` are one character; 0: none, or an overlong form, a surrogate, or beyond
/// U+10FFFF.
std::size_t utf8_character(std::string_view text);

/// Whether all of it is UTF-8.
bool is_utf8(std::string_view text);

}  // namespace forklift
