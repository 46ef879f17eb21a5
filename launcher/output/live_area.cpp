#include "launcher/output/live_area.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace forklift {
namespace {

/// No terminal is so wide that more of a row could be seen.
constexpr std::size_t longest_row = 2048;

constexpr std::string_view autowrap_off = "\x1b[?7l";
constexpr std::string_view autowrap_on = "\x1b[?7h";
constexpr std::string_view plain_colour = "\x1b[0m";
constexpr std::string_view erase_below = "\x1b[J";

/// Length of the control sequence (ESC [ parameters letter) at the beginning of `text`; 0 if it is none or is cut off.
std::size_t sequence_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto is_final = [](char byte) { return byte >= '@' && byte <= '~'; };
  const auto* const final_byte = std::find_if(text.begin() + 2, text.end(), is_final);
  return final_byte == text.end() ? 0 : static_cast<std::size_t>(final_byte - text.begin()) + 1;
}

/// Printable bytes and colours: anything else could move the cursor out of the row.
std::string drawable(std::string_view text) {
  std::string row;
  bool coloured = false;
  text = text.substr(0, longest_row);
  while (!text.empty()) {
    std::size_t length = sequence_length(text);
    const bool is_sequence = length > 0;
    if (!is_sequence) length = 1;
    const bool is_colour = is_sequence && text[length - 1] == 'm';
    const bool is_printable = !is_sequence && static_cast<unsigned char>(text.front()) >= 0x20 && text.front() != 0x7f;
    if (is_colour || is_printable) row.append(text.substr(0, length));
    coloured = coloured || is_colour;
    text.remove_prefix(length);
  }
  if (coloured) row.append(plain_colour);
  return row;
}

}  // namespace

bool LiveArea::set(const Key& key, std::string text) {
  if (text.empty()) return rows_.erase(key) > 0;
  std::string& row = rows_[key];
  if (row == text) return false;
  row = std::move(text);
  return true;
}

std::string LiveArea::erase() {
  if (drawn_rows_ == 0) return {};
  const std::string up = drawn_rows_ > 1 ? fmt::format("\x1b[{}A", drawn_rows_ - 1) : std::string();
  drawn_rows_ = 0;
  return fmt::format("\r{}{}", up, erase_below);
}

std::string LiveArea::redraw(std::size_t max_rows) {
  std::string drawing = erase();
  if (rows_.empty()) return drawing;
  const std::size_t shown = rows_.size() <= max_rows ? rows_.size() : std::max<std::size_t>(max_rows, 1) - 1;
  drawing.append(autowrap_off);
  for (const auto& [key, text] : rows_) {
    if (drawn_rows_ == shown) break;
    if (drawn_rows_ > 0) drawing.append("\r\n");
    drawing.append(drawable(text));
    ++drawn_rows_;
  }
  if (shown < rows_.size()) {
    if (drawn_rows_ > 0) drawing.append("\r\n");
    drawing.append(fmt::format("… and {} more", rows_.size() - shown));
    ++drawn_rows_;
  }
  return drawing.append(autowrap_on);
}

}  // namespace forklift
