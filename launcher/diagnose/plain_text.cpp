#include "launcher/diagnose/plain_text.hpp"

#include <fmt/format.h>

#include "worker/format/utf8.hpp"

namespace forklift {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view ellipsis = "\xE2\x80\xA6";     // U+2026
constexpr char escape = '\x1b';

unsigned char byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

bool is_final_of_control_sequence(unsigned char byte) { return byte >= 0x40 && byte <= 0x7E; }

/// First position after the escape sequence that starts at `at` (ECMA-48: CSI, OSC and two-character ones).
std::size_t end_of_escape(std::string_view text, std::size_t at) {
  std::size_t next = at + 1;
  if (next >= text.size()) return next;
  if (text[next] == '[') {
    for (++next; next < text.size(); ++next) {
      if (is_final_of_control_sequence(byte_at(text, next))) return next + 1;
      if (text[next] == '\n') return next;  // torn: the rest of the line is text
    }
    return next;
  }
  if (text[next] == ']') {
    for (++next; next < text.size(); ++next) {
      if (text[next] == '\a') return next + 1;
      if (text[next] == escape) return next + 1 < text.size() && text[next + 1] == '\\' ? next + 2 : next;
      if (text[next] == '\n') return next;
    }
    return next;
  }
  return next + 1;
}

std::string without_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == escape) {
      at = end_of_escape(text, at);
      continue;
    }
    out.push_back(text[at]);
    ++at;
  }
  return out;
}

bool is_unwanted_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

/// What a terminal shows of a line after carriage returns: the text after the last one that something follows.
std::string_view after_last_return(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t last = line.rfind('\r');
  return last == std::string_view::npos ? line : line.substr(last + 1);
}

std::string cut(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest > ellipsis.size() ? longest - ellipsis.size() : 0;
  while (end > 0 && is_continuation(byte_at(text, end))) --end;
  return std::string(text.substr(0, end)).append(ellipsis);
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_character(bytes.substr(at));
    if (length == 0) {
      out.append(replacement);
      ++at;
    } else {
      out.append(bytes.substr(at, length));
      at += length;
    }
  }
  return out;
}

std::string plain_text(std::string_view bytes) {
  const std::string text = without_escapes(valid_utf8(bytes));
  std::string out;
  out.reserve(text.size());
  for (std::string_view line : split_lines(text)) {
    for (const char c : after_last_return(line)) {
      if (!is_unwanted_control(c)) out.push_back(c);
    }
    out.push_back('\n');
  }
  if (!text.ends_with('\n') && !out.empty()) out.pop_back();
  return out;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<std::string> last_lines(std::string_view bytes, std::size_t count, std::size_t longest) {
  const std::string text = plain_text(bytes);
  const std::vector<std::string_view> lines = split_lines(text);
  std::size_t end = lines.size();
  while (end > 0 && trimmed(lines[end - 1]).empty()) --end;
  const std::size_t begin = end > count ? end - count : 0;
  std::vector<std::string> last;
  for (std::size_t at = begin; at < end; ++at) last.push_back(cut(lines[at], longest));
  return last;
}

std::string one_line(std::string_view text, std::size_t longest) {
  std::string line(trimmed(text));
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return cut(line, longest);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

}  // namespace forklift
