#include "launcher/output/tail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace forklift {
namespace {

constexpr std::string_view traceback_words = "Traceback (most recent call last):";
constexpr std::string_view line_ends = "\r\n";

/// So much before the words is looked at to find the beginning of their line ("[rank0]: Traceback …").
constexpr std::size_t line_context = 256;

/// memmem: std::string_view::find would stop at every capital T.
std::size_t find_words(std::string_view text, std::size_t from = 0) {
  if (from >= text.size()) return std::string_view::npos;
  const void* const found =
      ::memmem(text.data() + from, text.size() - from, traceback_words.data(), traceback_words.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// Where the next traceback of `text` begins, if `text` itself begins with one; npos if there is no other.
std::size_t second_traceback(std::string_view text) {
  const std::size_t first = find_words(text);
  if (first == std::string_view::npos) return first;
  const std::size_t second = find_words(text, first + traceback_words.size());
  if (second == std::string_view::npos) return second;
  const std::size_t line_end = text.find_last_of(line_ends, second);
  return line_end == std::string_view::npos || line_end < first ? second : line_end + 1;
}

/// A line as it looks in the end: without the text that a '\r' let the rest overwrite.
std::string_view final_look(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t overwritten = line.rfind('\r');
  return overwritten == std::string_view::npos ? line : line.substr(overwritten + 1);
}

std::string final_look_of_lines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.append(final_look(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    lines.push_back('\n');
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

void Tail::feed(std::string_view bytes) {
  if (bytes.empty()) return;
  record_traceback(bytes);
  recent_.append(bytes);
  seen_ += bytes.size();
}

void Tail::record_traceback(std::string_view bytes) {
  const bool recording = !traceback_.empty() && traceback_end() == seen_;
  if (recording) {
    traceback_.append(bytes);
    fit_traceback();
  } else if (const auto words_at = find_traceback(bytes)) {
    begin_traceback(bytes, *words_at);
  }
}

std::optional<std::uint64_t> Tail::find_traceback(std::string_view bytes) const {
  if (recent_.size() > 0) {
    // The words may have been cut by the end of the last chunk.
    std::string seam = recent_.last(traceback_words.size() - 1);
    const std::size_t before = seam.size();
    seam.append(bytes.substr(0, traceback_words.size() - 1));
    if (const std::size_t at = find_words(seam); at != std::string::npos) return seen_ - before + at;
  }
  const std::size_t at = find_words(bytes);
  if (at == std::string_view::npos) return std::nullopt;
  return seen_ + at;
}

void Tail::begin_traceback(std::string_view bytes, std::uint64_t words_at) {
  std::string window = recent_.last(line_context);
  const std::uint64_t window_begin = seen_ - window.size();
  window.append(bytes);
  const auto words = static_cast<std::size_t>(words_at - window_begin);
  const std::size_t line_end = window.find_last_of(line_ends, words);
  std::size_t begin = words;
  if (line_end != std::string::npos) {
    begin = line_end + 1;
  } else if (window_begin == 0) {
    begin = 0;
  }
  traceback_begin_ = window_begin + begin;
  traceback_ = window.substr(begin);
  fit_traceback();
}

void Tail::fit_traceback() {
  while (traceback_.size() > traceback_bytes) {
    const std::size_t next = second_traceback(traceback_);
    if (next == std::string::npos) {
      traceback_.resize(traceback_bytes);
    } else {
      traceback_.erase(0, next);
      traceback_begin_ += next;
    }
  }
}

std::string Tail::text() const {
  const std::uint64_t recent_begin = seen_ - recent_.size();
  if (traceback_.empty() || traceback_begin_ >= recent_begin) {
    return final_look_of_lines(recent_.last(recent_.size()));
  }
  std::string joined = traceback_;
  if (traceback_end() >= recent_begin) {
    joined.append(recent_.last(static_cast<std::size_t>(seen_ - traceback_end())));
  } else {
    if (!joined.ends_with('\n')) joined.push_back('\n');
    joined.append(fmt::format("[{} bytes left out]\n", recent_begin - traceback_end()));
    joined.append(recent_.last(recent_.size()));
  }
  return final_look_of_lines(joined);
}

}  // namespace forklift
