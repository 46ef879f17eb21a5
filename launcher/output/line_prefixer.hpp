// Bytes of one stream of one replica → whole lines, each with its prefix. Pure; the hot path of the output.
//
// Rules: a line ends at '\n' ("\r\n" too). A '\r' inside a line means that the text before it was a
// progress display: only what stands after the last '\r' survives; the unfinished text can be asked for, so that a
// terminal can show it live. A line longer than 1 MiB goes out in pieces, each prefixed and marked. NUL bytes and
// invalid UTF-8 pass unchanged. The last line without a newline gets one in finish().
//
// How the stream was cut into chunks never changes what comes out. An idle prefixer holds nothing but its prefix.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forklift {

/// What becomes of unfinished progress text: shown on the last line of a terminal, or left out.
enum class ProgressStyle { live, last_only };

class LinePrefixer {
 public:
  static constexpr std::size_t max_line = std::size_t{1} << 20;
  /// Ends every piece of an overlong line but its last.
  static constexpr std::string_view piece_mark = " [line continues]";

  LinePrefixer(std::string prefix, ProgressStyle style);

  /// Appends every line that is complete now to `out`. Keeps the rest (at most max_line bytes).
  void feed(std::string_view bytes, std::string& out);

  /// The stream has ended: appends what is left, with a newline. A later feed() starts a new line.
  void finish(std::string& out);

  /// The unfinished progress text (after the last '\r'), prefixed, without line end; empty if there is none, and always
  /// with ProgressStyle::last_only.
  [[nodiscard]] std::string live_text() const;

  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 private:
  /// What is known of the line that has not ended yet.
  enum class Line {
    plain,     ///< No '\r' so far, or none.
    returned,  ///< The last byte was '\r': text would overwrite carry_, '\n' would complete it.
    progress,  ///< carry_ stands after a '\r'.
  };

  void feed_whole_lines(std::string_view bytes, std::string& out);
  void feed_with_returns(std::string_view bytes, std::string& out);
  void add_to_line(std::string_view text, std::string& out);
  void end_line(std::string& out);
  void forget_line();

  std::string prefix_;
  std::string carry_;  ///< The line so far, or its text after the last '\r' that was overwritten.
  ProgressStyle style_;
  Line line_ = Line::plain;
};

}  // namespace forklift
