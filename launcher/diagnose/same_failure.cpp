#include "launcher/diagnose/same_failure.hpp"

#include <algorithm>

#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/python_traceback.hpp"
#include "worker/format/digits.hpp"

namespace forklift {
namespace {

constexpr std::size_t longest_words = 400;

/// Each run of digits becomes one '#'.
std::string without_numbers(std::string_view text) {
  std::string plain;
  for (const char character : text) {
    if (!is_digit(character)) {
      plain.push_back(character);
    } else if (plain.empty() || plain.back() != '#') {
      plain.push_back('#');
    }
  }
  return plain;
}

std::string words_of(const ExceptionLine& exception) {
  return without_numbers(one_line(exception_headline(exception), longest_words));
}

std::string last_line_of(std::string_view text) {
  const auto lines = split_lines(text);
  const auto last =
      std::find_if(lines.rbegin(), lines.rend(), [](std::string_view line) { return !trimmed(line).empty(); });
  return last == lines.rend() ? std::string{} : without_numbers(one_line(trimmed(*last), longest_words));
}

}  // namespace

FailureWords::FailureWords(const Ending& culprit) : outcome_(culprit.outcome) {
  const std::string text = plain_text(culprit.stderr_tail);
  if (const auto python = find_python_failure(text)) {
    mark_ = python->exception.type;
    exception_ = words_of(python->exception);
  } else {
    last_line_ = last_line_of(text);
  }
}

bool FailureWords::shared_by(const Ending& other) const {
  if (succeeded(other.outcome) || other.stderr_tail.empty()) return false;
  if (exception_.empty()) {
    return !last_line_.empty() && std::holds_alternative<Exited>(outcome_) && other.outcome == outcome_ &&
           last_line_of(plain_text(other.stderr_tail)) == last_line_;
  }
  if (!contains(other.stderr_tail, mark_)) return false;
  const auto python = find_python_failure(plain_text(other.stderr_tail));
  return python && words_of(python->exception) == exception_;
}

}  // namespace forklift
