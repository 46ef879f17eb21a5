// An exception that nothing more special explains: of Python, or of C++ as a replica of the fork API reports it.
#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

constexpr std::size_t longest_evidence = 200;

/// The innermost "File …, line …, in …" of the final exception: where to look first.
std::string last_frame(const std::string& traceback) {
  constexpr std::string_view frame = "File \"";
  std::string last;
  for (const std::string_view line : split_lines(traceback)) {
    if (trimmed(line).starts_with(frame)) last = one_line(line, longest_evidence);
  }
  return last;
}

/// A replica of a native program wrote its last words, and Python's always have a traceback.
bool is_native(const FailureCase& the_case) {
  return the_case.plan.program_kind == ProgramKind::native && the_case.python->traceback.empty();
}

Diagnosis explain_native(const FailureCase& the_case, Confidence confidence) {
  Diagnosis diagnosis = diagnosis_of(the_case, Category::cpp_exception, confidence, raised(the_case.python->exception));
  diagnosis.advice.emplace_back("Catch it where it is thrown, or run one replica under a debugger (gdb: catch throw).");
  return diagnosis;
}

}  // namespace

std::optional<Diagnosis> explain_python(const FailureCase& the_case) {
  const auto* exited = std::get_if<Exited>(&the_case.ending.outcome);
  if (exited == nullptr || !the_case.python) return std::nullopt;
  // Python leaves with 1 after an exception; another code means that the program caught it and chose its own end.
  const Confidence confidence = exited->code == 1 ? Confidence::certain : Confidence::likely;
  if (is_native(the_case)) return explain_native(the_case, confidence);
  Diagnosis diagnosis =
      diagnosis_of(the_case, Category::python_exception, confidence, raised(the_case.python->exception));
  const std::string frame = last_frame(the_case.python->traceback);
  if (!frame.empty()) diagnosis.evidence.push_back("raised in " + frame);
  diagnosis.advice.emplace_back("Read the traceback from its end: the last lines name the place in the program.");
  return diagnosis;
}

}  // namespace forklift
