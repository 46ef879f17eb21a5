// Laying out words on lines of a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forklift {

constexpr std::size_t text_width = 80;

/// `first` followed by the words, separated by blanks and broken into lines of at most `text_width` bytes where words
/// allow it; continued lines are indented by the length of `first`. Ends with a newline.
std::string wrapped(std::string_view first, const std::vector<std::string>& words);

/// A word as a shell takes it: bare if it is plain, else in single quotes; control characters become \xNN in $'…'.
std::string shell_word(std::string_view word);

/// The text with every control character as \xNN, so that it can neither break lines nor command a terminal.
std::string printable(std::string_view text);

/// "0-3,8" for {0, 1, 2, 3, 8}; `numbers` ascending.
std::string ranges(const std::vector<int>& numbers);

}  // namespace forklift
