#include "launcher/diagnose/python_traceback.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "launcher/diagnose/plain_text.hpp"
#include "worker/format/digits.hpp"

namespace forklift {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::string_view header = "Traceback (most recent call last):";
constexpr std::string_view worker_header = "Original Traceback (most recent call last):";  // of a DataLoader's worker
constexpr std::string_view frame = "  File \"";
constexpr std::array<std::string_view, 2> chain_links{
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
};
/// Lines in front of a traceback that Python prints and survives.
constexpr std::array<std::string_view, 2> survived_marks{"Exception ignored ", "--- Logging error ---"};
constexpr std::size_t longest_message = 60;  ///< Lines of one exception's message that are kept.

bool is_indented(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }
bool is_blank(std::string_view line) { return trimmed(line).empty(); }

bool is_header(std::string_view line) {
  return line == header || line.starts_with("  + Exception Group Traceback (most recent call last)");
}

bool is_chain_link(std::string_view line) {
  return std::find(chain_links.begin(), chain_links.end(), line) != chain_links.end();
}

/// torch's excepthook writes "[rank3]: " in front of each line; its C++ log lines ("[rank3]:[E…") are something else.
std::string_view without_rank_mark(std::string_view line) {
  constexpr std::string_view mark = "[rank";
  if (!line.starts_with(mark)) return line;
  std::size_t at = mark.size();
  while (at < line.size() && is_digit(line[at])) ++at;
  if (at == mark.size() || line.substr(at, 2) != "]:") return line;
  const std::string_view rest = line.substr(at + 2);
  if (rest.empty()) return rest;
  return rest.starts_with(' ') ? rest.substr(1) : line;
}

/// "[W606 …", "[rank0]:[E…", "W0606 12:…": the C++ logs of torch, XLA and gRPC.
bool is_log_line(std::string_view line) {
  if (line.starts_with("[rank")) return true;
  if (line.starts_with('[')) line.remove_prefix(1);
  constexpr std::string_view severities = "EWIF";
  return line.size() > 4 && contains(severities, line.substr(0, 1)) && is_digit(line[1]) && is_digit(line[2]) &&
         is_digit(line[3]);
}

/// Lines that follow an exception without a blank line between, and are no part of its message.
bool is_other_output(std::string_view line) {
  constexpr std::array<std::string_view, 4> beginnings{"Exception ignored ", "--- Logging error ---",
                                                       "terminate called", "Fatal Python error: "};
  const bool begins_another = std::any_of(beginnings.begin(), beginnings.end(),
                                          [&](std::string_view beginning) { return line.starts_with(beginning); });
  const bool is_warning = contains(line, ".py:") && contains(line, "Warning: ");
  return begins_another || is_warning || is_log_line(line) || is_header(line);
}

/// One traceback with everything chained to it: lines [begin, end) and the line that holds the final exception.
struct Report {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t exception = 0;
};

/// Reads one report, line by line, from its first header on.
class ReportReader {
 public:
  ReportReader(const Lines& lines, std::size_t begin) : lines_(lines), report_{begin, begin, begin}, at_(begin) {}

  Report read() {
    do {
      read_one_traceback();
    } while (find_next_in_chain());
    return report_;
  }

 private:
  [[nodiscard]] bool more() const { return at_ < lines_.size(); }

  void read_one_traceback() {
    if (is_indented(lines_[at_])) return read_group();
    ++at_;  // the header
    skip_frames();
    if (!more()) {
      report_.end = at_;
      return;
    }
    report_.exception = at_;
    ++at_;
    read_message();
    report_.end = at_;
  }

  /// An exception group draws its tree with indented '|' and '+'; its own exception is the first text after "  | ".
  void read_group() {
    constexpr std::string_view branch = "  | ";
    bool found = false;
    for (++at_; more() && is_indented(lines_[at_]); ++at_) {
      const std::string_view line = lines_[at_];
      if (!found && line.starts_with(branch) && line.size() > branch.size() && line[branch.size()] != ' ') {
        report_.exception = at_;
        found = true;
      }
    }
    report_.end = at_;
  }

  void skip_frames() {
    while (more() && (is_indented(lines_[at_]) || is_blank(lines_[at_]))) ++at_;
  }

  /// The rest of an exception's message. One that holds another traceback (of a DataLoader's worker) ends in the
  /// exception that matters.
  void read_message() {
    for (std::size_t count = 0; more() && count < longest_message; ++at_, ++count) {
      const std::string_view line = lines_[at_];
      if (line == worker_header) {
        ++at_;
        skip_frames();
        if (!more()) return;
        report_.exception = at_;
        continue;
      }
      if (is_other_output(line)) return;
      if (is_blank(line) && !continues_after_blank()) return;
    }
  }

  /// A message of several paragraphs is indented throughout; anything else after a blank line is other output.
  [[nodiscard]] bool continues_after_blank() const {
    return at_ + 1 < lines_.size() && is_indented(lines_[at_ + 1]) && !is_blank(lines_[at_ + 1]);
  }

  /// Moves to the header of the exception that this one led to, if there is one.
  bool find_next_in_chain() {
    std::size_t next = at_;
    const auto skip_blank = [&] {
      while (next < lines_.size() && is_blank(lines_[next])) ++next;
    };
    skip_blank();
    if (next >= lines_.size() || !is_chain_link(lines_[next])) return false;
    ++next;
    skip_blank();
    if (next >= lines_.size() || !is_header(lines_[next])) return false;
    at_ = next;
    return true;
  }

  const Lines& lines_;
  Report report_;
  std::size_t at_;
};

bool was_survived(const Lines& lines, std::size_t header_at) {
  if (header_at == 0) return false;
  const std::string_view before = lines[header_at - 1];
  return std::any_of(survived_marks.begin(), survived_marks.end(),
                     [&](std::string_view mark) { return before.starts_with(mark); });
}

std::string joined(const Lines& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t at = begin; at < end; ++at) {
    if (at != begin) text.push_back('\n');
    text.append(lines[at]);
  }
  return text;
}

/// The exception with its message; for a group, without the tree that is drawn in front of it.
ExceptionLine exception_of(const Lines& lines, const Report& report) {
  const std::string_view first = lines[report.exception];
  if (is_indented(first)) return split_exception_line(first.substr(std::string_view("  | ").size()));
  return split_exception_line(joined(lines, report.exception, report.end));
}

std::optional<Report> last_report(const Lines& lines) {
  std::optional<Report> last;
  for (std::size_t at = 0; at < lines.size();) {
    if (!is_header(lines[at])) {
      ++at;
      continue;
    }
    const Report report = ReportReader(lines, at).read();
    const bool has_exception = report.exception != report.begin;
    if (has_exception && !was_survived(lines, at)) last = report;
    at = std::max(report.end, at + 1);
  }
  return last;
}

/// A script that cannot be compiled: a frame, the source line, a caret, and the error, without a header.
std::optional<Report> last_syntax_error(const Lines& lines) {
  for (std::size_t at = lines.size(); at-- > 0;) {
    const std::string type = split_exception_line(lines[at]).type;
    if (type != "SyntaxError" && type != "IndentationError" && type != "TabError") continue;
    std::size_t begin = at;
    while (begin > 0 && is_indented(lines[begin - 1])) --begin;
    if (begin < at && lines[begin].starts_with(frame)) return Report{begin, at + 1, at};
  }
  return std::nullopt;
}

}  // namespace

std::optional<PythonFailure> find_python_failure(std::string_view text) {
  Lines lines = split_lines(text);
  std::transform(lines.begin(), lines.end(), lines.begin(), without_rank_mark);
  std::optional<Report> report = last_report(lines);
  if (!report) report = last_syntax_error(lines);
  if (!report) return std::nullopt;
  return PythonFailure{exception_of(lines, *report), joined(lines, report->begin, report->end)};
}

std::string find_fatal_python_error(std::string_view text) {
  constexpr std::string_view mark = "Fatal Python error: ";
  const Lines lines = split_lines(text);
  std::size_t begin = lines.size();
  while (begin > 0 && !lines[begin - 1].starts_with(mark)) --begin;
  if (begin == 0) return {};
  --begin;
  std::size_t end = begin + 1;
  for (std::size_t at = end; at < lines.size(); ++at) {
    const std::string_view line = lines[at];
    const bool belongs = is_blank(line) || is_indented(line) || line.starts_with("Current thread ") ||
                         line.starts_with("Thread ") || line.starts_with("Python runtime state: ") ||
                         line.starts_with("Extension modules: ");
    if (!belongs) break;
    if (!is_blank(line)) end = at + 1;
  }
  return joined(lines, begin, end);
}

}  // namespace forklift
