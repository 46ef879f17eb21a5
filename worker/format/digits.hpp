// Digits as bytes of a text: std::isdigit depends on the locale, and on the sign of a char.
#pragma once

namespace forklift {

constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }

}  // namespace forklift
