// Looks the replica's own words up in the tables of known texts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "launcher/diagnose/known_texts.hpp"
#include "launcher/diagnose/memory_evidence.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

bool matches(const KnownText& row, std::string_view text) {
  return std::all_of(row.words.begin(), row.words.end(), [&](std::string_view words) { return contains(text, words); });
}

Confidence one_step_less(Confidence confidence) {
  switch (confidence) {
    case Confidence::certain:
      return Confidence::likely;
    case Confidence::likely:
    case Confidence::possible:
      return Confidence::possible;
  }
  return Confidence::possible;
}

/// The interpreter and the script, or the program alone, of a replica's command; and the module that it lacks.
struct Words {
  std::string python = "python3";
  std::string program = "the program";
  std::string module = "that is missing";
};

/// "No module named 'torch.nn'" → "torch.nn"; empty if that is not said.
std::string missing_module(std::string_view text) {
  constexpr std::string_view mark = "No module named ";
  const std::size_t found = text.rfind(mark);
  if (found == std::string_view::npos) return {};
  std::string_view name = text.substr(found + mark.size());
  name = name.substr(0, name.find_first_of("\n;"));
  constexpr std::size_t longest = 100;
  std::string module = one_line(trimmed(name), longest);
  std::erase(module, '\'');
  if (module.ends_with(')')) module.pop_back();  // runpy: "… (ModuleNotFoundError: No module named 'no')"
  return module;
}

Words words_of(const FailureCase& the_case, std::string_view text) {
  const std::vector<std::string> argv = argv_of(the_case);
  Words words;
  if (std::string module = missing_module(text); !module.empty()) words.module = std::move(module);
  if (argv.empty()) return words;
  if (the_case.plan.program_kind == ProgramKind::native) {
    words.program = argv.front();
    return words;
  }
  words.python = the_case.evidence.executable.empty() ? argv.front() : the_case.evidence.executable;
  const auto program =
      std::find_if(argv.begin() + 1, argv.end(), [](const std::string& word) { return !word.starts_with('-'); });
  if (program != argv.end()) words.program = *program;
  return words;
}

std::vector<std::string> advice_of(const KnownText& row, const FailureCase& the_case, std::string_view said) {
  const Words words = words_of(the_case, said);
  std::vector<std::string> advice;
  for (const std::string_view text : row.advice) {
    if (text.empty()) continue;
    advice.push_back(fmt::format(fmt::runtime(text), fmt::arg("python", words.python),
                                 fmt::arg("program", words.program), fmt::arg("module", words.module),
                                 fmt::arg("rank", the_case.ending.rank.value),
                                 fmt::arg("world_size", the_case.plan.world_size)));
  }
  return advice;
}

/// The first line that holds the row's first words, as evidence.
std::string matching_line(const KnownText& row, std::string_view text) {
  constexpr std::size_t longest = 300;
  for (const std::string_view line : split_lines(text)) {
    if (contains(line, row.words.front())) return one_line(line, longest);
  }
  return {};
}

Diagnosis diagnosis_from(const KnownText& row, Confidence confidence, const FailureCase& the_case,
                         std::string_view text) {
  const bool says_it_best_itself = row.predicate.empty() && the_case.python;
  const std::string line = matching_line(row, text);
  std::string predicate(row.predicate);
  if (says_it_best_itself) predicate = raised(the_case.python->exception);
  if (predicate.empty()) predicate = "failed: " + line;
  Diagnosis diagnosis = diagnosis_of(the_case, row.category, confidence, predicate);
  if (!line.empty() && !says_it_best_itself) diagnosis.evidence.push_back(line);
  if (row.category == Category::out_of_memory) add_memory_evidence(the_case, diagnosis);
  diagnosis.advice = advice_of(row, the_case, text);
  return diagnosis;
}

/// Who sends one of these decides about the end; what the replica had said before seldom has to do with it, except when
/// the sender itself left a note there.
bool ended_by_a_sender(const Outcome& outcome) {
  const auto* signalled = std::get_if<Signalled>(&outcome);
  if (signalled == nullptr) return false;
  constexpr std::array<int, 5> senders_choice{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  return std::find(senders_choice.begin(), senders_choice.end(), signalled->signal) != senders_choice.end();
}

bool is_note_of_a_sender(const KnownText& row) {
  return row.category == Category::preempted || row.category == Category::out_of_memory;
}

}  // namespace

const KnownText* find_known_text(std::string_view text) {
  for (const auto rows : {guide_texts(), device_texts(), collective_texts(), system_texts()}) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const KnownText& row) { return matches(row, text); });
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

std::optional<Diagnosis> explain_known_text(const FailureCase& the_case) {
  const std::string words = own_words(the_case);
  if (ended_by_a_sender(the_case.ending.outcome)) {
    const KnownText* row = find_known_text(words);
    if (row == nullptr || !is_note_of_a_sender(*row)) return std::nullopt;
    return diagnosis_from(*row, row->confidence, the_case, words);
  }
  if (const KnownText* row = find_known_text(words)) return diagnosis_from(*row, row->confidence, the_case, words);
  if (!the_case.python) return std::nullopt;
  // An exception of the chain, or the line of the program that raised it, may hold the words; it may also have been
  // dealt with, so that they weigh less.
  const std::string& traceback = the_case.python->traceback;
  const KnownText* row = find_known_text(traceback);
  if (row == nullptr) return std::nullopt;
  return diagnosis_from(*row, one_step_less(row->confidence), the_case, traceback);
}

}  // namespace forklift
