// Raw bytes of a replica's output → text that a report can hold: valid UTF-8, no escape sequences, no progress debris.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "worker/format/byte_text.hpp"

namespace forklift {

/// Every byte that is not part of valid UTF-8 becomes U+FFFD. Never fails; valid text is unchanged.
std::string valid_utf8(std::string_view bytes);

/// Valid UTF-8 without ANSI escape sequences and control characters; a line keeps only what follows its last '\r', as
/// a terminal would show it. Lines end in '\n'; tabs stay.
std::string plain_text(std::string_view bytes);

/// The lines of `text`, without their '\n'; an unfinished last line counts. They point into `text`.
std::vector<std::string_view> split_lines(std::string_view text);

/// At most `count` last lines of the raw output that are not blank at the end, each at most `longest` bytes (cut at a
/// character, marked with "…").
std::vector<std::string> last_lines(std::string_view bytes, std::size_t count = 10, std::size_t longest = 400);

/// One line of at most `longest` bytes: line breaks become spaces, a cut is marked with "…".
std::string one_line(std::string_view text, std::size_t longest);

/// Without spaces, tabs and line breaks at both ends.
std::string_view trimmed(std::string_view text);

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace forklift
