#include "launcher/diagnose/case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "worker/format/error_file.hpp"

namespace forklift {
namespace {

constexpr std::size_t longest_sentence = 300;   ///< Bytes of an exception's message within a summary.
constexpr std::size_t lines_of_own_words = 60;  ///< Native stacks are printed after the reason.
constexpr int shell_signal_base = 128;
constexpr int last_signal_of_shells = 64;

/// What @record wrote is the exception that left main(); the terminal output may hold later, lesser ones.
std::optional<PythonFailure> from_error_file(const AttemptEvidence& evidence, Rank rank) {
  const auto found = evidence.error_files.find(rank);
  if (found == evidence.error_files.end()) return std::nullopt;
  const std::optional<ErrorFile> file = parse_error_file(found->second);
  if (!file) return std::nullopt;
  const ExceptionLine exception{plain_text(file->exception.type), plain_text(file->exception.message)};
  return PythonFailure{exception, std::string(trimmed(plain_text(file->traceback)))};
}

/// Error files are read for replicas that left through Python's own exit only: one that a signal killed cannot have
/// written its last words.
std::optional<PythonFailure> python_failure_of(const Ending& ending, const AttemptEvidence& evidence,
                                               std::string_view stderr_text) {
  std::optional<PythonFailure> printed = find_python_failure(stderr_text);
  if (!std::holds_alternative<Exited>(ending.outcome)) return printed;
  std::optional<PythonFailure> written = from_error_file(evidence, ending.rank);
  if (!written) return printed;
  if (written->traceback.empty() && printed) written->traceback = printed->traceback;
  return written;
}

std::string end_of(std::string_view text) {
  const std::vector<std::string_view> lines = split_lines(text);
  const std::size_t begin = lines.size() > lines_of_own_words ? lines.size() - lines_of_own_words : 0;
  std::string end;
  for (std::size_t at = begin; at < lines.size(); ++at) end.append(lines[at]).push_back('\n');
  return end;
}

/// A replica that left by exit had the exception as its last word; one that a signal killed may have said more since.
std::string words_of(const Outcome& outcome, const std::optional<PythonFailure>& python, std::string_view text) {
  const bool left_by_exit = std::holds_alternative<Exited>(outcome);
  return left_by_exit && python ? exception_headline(python->exception) : end_of(text);
}

}  // namespace

FailureCase make_case(const Plan& plan, const Ending& ending, const std::vector<Ending>& endings,
                      const AttemptEvidence& evidence) {
  std::string text = plain_text(ending.stderr_tail);
  std::optional<PythonFailure> python = python_failure_of(ending, evidence, text);
  return {plan, ending, endings, evidence, std::move(text), std::move(python)};
}

std::string name_of(Rank rank) { return rank == template_rank ? "the template" : fmt::format("rank {}", rank.value); }

std::string who(const FailureCase& the_case) {
  const Ending& ending = the_case.ending;
  const std::string name = ending.rank == template_rank ? "The template" : fmt::format("Rank {}", ending.rank.value);
  return ending.pid == 0 ? name : fmt::format("{} (pid {})", name, ending.pid);
}

std::string own_words(const FailureCase& the_case) {
  return words_of(the_case.ending.outcome, the_case.python, the_case.stderr_text);
}

std::string own_words(const Ending& ending) {
  const std::string text = plain_text(ending.stderr_tail);
  return words_of(ending.outcome, find_python_failure(text), text);
}

const ReplicaPlan* plan_of(const FailureCase& the_case) {
  const auto& replicas = the_case.plan.replicas;
  const auto found = std::find_if(replicas.begin(), replicas.end(),
                                  [&](const ReplicaPlan& replica) { return replica.rank == the_case.ending.rank; });
  return found == replicas.end() ? nullptr : &*found;
}

StderrSeen stderr_seen(const FailureCase& the_case) {
  const ReplicaPlan* replica = plan_of(the_case);
  const bool terminal = replica != nullptr && replica->standard_error == StreamRoute::terminal;
  return terminal ? StderrSeen::went_to_terminal : StderrSeen::yes;
}

std::vector<std::string> argv_of(const FailureCase& the_case) {
  const auto& replicas = the_case.plan.replicas;
  if (the_case.ending.rank == template_rank && !replicas.empty()) return replicas.front().argv;
  const ReplicaPlan* replica = plan_of(the_case);
  return replica == nullptr ? std::vector<std::string>{} : replica->argv;
}

std::string traceback_of(const FailureCase& the_case) {
  std::string text = the_case.python ? the_case.python->traceback : std::string{};
  const std::string fatal = find_fatal_python_error(the_case.stderr_text);
  if (fatal.empty()) return text;
  if (!text.empty()) text.append("\n\n");
  return text + fatal;
}

Diagnosis diagnosis_of(const FailureCase& the_case, Category category, Confidence confidence,
                       std::string_view predicate) {
  Diagnosis diagnosis;
  diagnosis.category = category;
  diagnosis.confidence = confidence;
  diagnosis.summary = fmt::format("{} {}", who(the_case), predicate);
  if (!diagnosis.summary.ends_with('.')) diagnosis.summary.push_back('.');
  diagnosis.evidence.push_back(fmt::format("{} {}", name_of(the_case.ending.rank), describe(the_case.ending.outcome)));
  diagnosis.traceback = traceback_of(the_case);
  return diagnosis;
}

std::string raised(const ExceptionLine& exception) {
  if (exception.type.empty()) return "failed: " + one_line(exception.message, longest_sentence);
  return "raised " + one_line(exception_headline(exception), longest_sentence);
}

int signal_of(const Outcome& outcome) {
  if (const auto* signalled = std::get_if<Signalled>(&outcome)) return signalled->signal;
  const auto* exited = std::get_if<Exited>(&outcome);
  if (exited == nullptr) return 0;
  const int signal = exited->code - shell_signal_base;
  return signal >= 1 && signal <= last_signal_of_shells ? signal : 0;
}

}  // namespace forklift
