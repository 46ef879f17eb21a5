#include "launcher/output/line_prefixer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace forklift {
namespace {

/// A carry that grew beyond this is given back at the end of its line, so that one long line costs memory only once.
constexpr std::size_t kept_carry = 4096;

/// Where `wanted` is first; text.size() if it is not there.
std::size_t position_of(char wanted, std::string_view text) {
  if (text.empty()) return 0;
  const void* const found = std::memchr(text.data(), wanted, text.size());
  return found == nullptr ? text.size() : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// Writes into a string that is made larger a slab at a time: one bounds check and two copies a line, where append()
/// would check, call and terminate twice.
class SlabWriter {
 public:
  explicit SlabWriter(std::string& out) : out_(out), used_(out.size()) {}
  SlabWriter(const SlabWriter&) = delete;
  SlabWriter& operator=(const SlabWriter&) = delete;
  ~SlabWriter() { out_.resize(used_); }

  /// `expected`: bytes that are likely still to come, to size the slab with.
  void write(std::string_view first, std::string_view second, std::size_t expected) {
    const std::size_t bytes = first.size() + second.size();
    if (out_.size() - used_ < bytes) out_.resize(used_ + bytes + expected + expected / 4);
    char* const end = std::copy(first.begin(), first.end(), out_.data() + used_);
    std::copy(second.begin(), second.end(), end);
    used_ += bytes;
  }

 private:
  std::string& out_;
  std::size_t used_;
};

}  // namespace

LinePrefixer::LinePrefixer(std::string prefix, ProgressStyle style) : prefix_(std::move(prefix)), style_(style) {}

void LinePrefixer::feed(std::string_view bytes, std::string& out) {
  if (line_ == Line::plain && position_of('\r', bytes) == bytes.size()) {
    feed_whole_lines(bytes, out);
  } else {
    feed_with_returns(bytes, out);
  }
}

void LinePrefixer::feed_whole_lines(std::string_view bytes, std::string& out) {
  const std::size_t first_end = position_of('\n', bytes);
  add_to_line(bytes.substr(0, first_end), out);
  if (first_end == bytes.size()) return;
  end_line(out);
  bytes.remove_prefix(first_end + 1);
  {
    SlabWriter writer(out);
    for (std::size_t end = position_of('\n', bytes); end < bytes.size() && end <= max_line;
         end = position_of('\n', bytes)) {
      writer.write(prefix_, bytes.substr(0, end + 1), bytes.size());
      bytes.remove_prefix(end + 1);
    }
  }
  // The rest is the beginning of a line, or starts with a line that is too long to go out whole.
  feed_with_returns(bytes, out);
}

void LinePrefixer::feed_with_returns(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    const std::size_t line_end = position_of('\n', bytes);
    std::string_view line = bytes.substr(0, line_end);
    for (std::size_t end = position_of('\r', line); end < line.size(); end = position_of('\r', line)) {
      add_to_line(line.substr(0, end), out);
      line_ = Line::returned;
      line.remove_prefix(end + 1);
    }
    add_to_line(line, out);
    if (line_end == bytes.size()) return;
    end_line(out);
    bytes.remove_prefix(line_end + 1);
  }
}

void LinePrefixer::add_to_line(std::string_view text, std::string& out) {
  if (text.empty()) return;
  if (line_ == Line::returned) {
    carry_.clear();
    line_ = Line::progress;
  }
  while (carry_.size() + text.size() > max_line) {
    const std::size_t taken = max_line - carry_.size();
    out.append(prefix_).append(carry_).append(text.substr(0, taken)).append(piece_mark).push_back('\n');
    carry_.clear();
    text.remove_prefix(taken);
  }
  carry_.append(text);
}

void LinePrefixer::end_line(std::string& out) {
  out.append(prefix_).append(carry_).push_back('\n');
  forget_line();
}

void LinePrefixer::forget_line() {
  line_ = Line::plain;
  if (carry_.capacity() > kept_carry) {
    carry_ = std::string();
  } else {
    carry_.clear();
  }
}

void LinePrefixer::finish(std::string& out) {
  if (!carry_.empty()) return end_line(out);
  forget_line();
}

std::string LinePrefixer::live_text() const {
  const bool shown = style_ == ProgressStyle::live && line_ != Line::plain && !carry_.empty();
  return shown ? prefix_ + carry_ : std::string();
}

}  // namespace forklift
