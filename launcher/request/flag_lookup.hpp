// Finding a flag by what the user wrote, and the sentence about a name that is no flag.
#pragma once

#include <string>
#include <string_view>

#include "launcher/request/flag_table.hpp"

namespace forklift {

/// The flag with this long name; `-` and `_` are the same, abbreviations are not accepted. nullptr: there is none.
/// `name` has neither the leading dashes nor a value.
const Flag* find_flag(std::string_view name);

/// The flag with this letter; nullptr: there is none.
const Flag* find_flag(char letter);

/// Why `name` is not accepted, and which known flag was probably meant: the full names if it is an abbreviation, else
/// the nearest name by edit distance.
std::string unknown_flag_sentence(std::string_view name);

/// Single-character insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

}  // namespace forklift
