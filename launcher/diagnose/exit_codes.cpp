// A code alone, without any text that explains it; and an end that nobody saw.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

constexpr std::size_t longest_line = 200;

struct ExitCodeText {
  int code = 0;
  std::string_view meaning;  ///< Continues "exited with code N, "; what programs usually mean by it.
  std::string_view advice;
};

constexpr auto exit_code_texts = std::to_array<ExitCodeText>({
    {2, "the usual code for wrong arguments",
     "Look at the arguments that the program was given (--dry-run shows them)."},
    {120, "which Python uses when its last output could not be written",
     "Look for a full disk or a closed pipe at the end of the program's output."},
    {125, "the usual code of a launcher or container tool that failed itself",
     "The program that was started is itself a launcher: look at its own messages."},
    {126, "which a shell uses for a command that cannot be executed",
     "A script named a file without execute permission: chmod +x, or name its interpreter."},
    {127, "which a shell uses for a command that was not found",
     "A script named a command that is not on PATH in this environment."},
    {255, "which is what exit(-1) becomes",
     "Look in the program for exit(-1) or sys.exit(-1); a remote tool (ssh) that it ran may have left with 255 too."},
});

const ExitCodeText* text_for(int code) {
  const auto* const found = std::find_if(exit_code_texts.begin(), exit_code_texts.end(),
                                         [&](const ExitCodeText& text) { return text.code == code; });
  return found == exit_code_texts.end() ? nullptr : found;
}

/// argparse's last words: "train.py: error: unrecognized arguments: --lr". Empty if there are none.
std::string usage_error(const FailureCase& the_case) {
  constexpr std::string_view mark = ": error: ";
  if (!contains(the_case.stderr_text, "usage:") && !contains(the_case.stderr_text, "Usage:")) return {};
  std::string last;
  for (const std::string_view line : split_lines(the_case.stderr_text)) {
    if (const std::size_t found = line.find(mark); found != std::string_view::npos) {
      last = one_line(line.substr(found + mark.size()), longest_line);
    }
  }
  return last;
}

std::string last_stderr_line(const FailureCase& the_case) {
  const std::vector<std::string_view> lines = split_lines(the_case.stderr_text);
  const auto found =
      std::find_if(lines.rbegin(), lines.rend(), [](std::string_view line) { return !trimmed(line).empty(); });
  return found == lines.rend() ? std::string{} : one_line(*found, longest_line);
}

std::string_view where_to_look(const FailureCase& the_case, const std::string& last_line) {
  if (stderr_seen(the_case) == StderrSeen::went_to_terminal) {
    return "Its last lines stand above this report, on the terminal.";
  }
  if (!last_line.empty()) return "Its last lines are the place to start.";
  if (the_case.ending.rank == template_rank) return "Run the program without --template to see where it ends.";
  if (the_case.plan.world_size == 1) return "It said nothing: run it under a debugger to see where it ends.";
  return "Run one replica alone to see where it ends: --nproc-per-node 1.";
}

Diagnosis explain_usage_error(const FailureCase& the_case, const std::string& error) {
  Diagnosis diagnosis =
      diagnosis_of(the_case, Category::exit_code, Confidence::certain, fmt::format("refused its arguments: {}", error));
  diagnosis.advice.emplace_back(
      "Correct the words after PROGRAM; forklift's own options stand before it (--dry-run shows what is passed on).");
  return diagnosis;
}

}  // namespace

std::optional<Diagnosis> explain_exit_code(const FailureCase& the_case) {
  const auto* exited = std::get_if<Exited>(&the_case.ending.outcome);
  if (exited == nullptr) return std::nullopt;
  constexpr int usage_code = 2;
  if (exited->code == usage_code) {
    if (const std::string error = usage_error(the_case); !error.empty()) return explain_usage_error(the_case, error);
  }
  const ExitCodeText* text = text_for(exited->code);
  const std::string predicate = text == nullptr ? fmt::format("exited with code {}", exited->code)
                                                : fmt::format("exited with code {}, {}", exited->code, text->meaning);
  Diagnosis diagnosis = diagnosis_of(the_case, Category::exit_code,
                                     text == nullptr ? Confidence::certain : Confidence::possible, predicate);
  const std::string last = last_stderr_line(the_case);
  if (stderr_seen(the_case) == StderrSeen::yes) {
    diagnosis.evidence.push_back(last.empty() ? std::string("it printed nothing on stderr")
                                              : "its last line on stderr: " + last);
  }
  if (text != nullptr) diagnosis.advice.emplace_back(text->advice);
  diagnosis.advice.emplace_back(where_to_look(the_case, last));
  return diagnosis;
}

std::optional<Diagnosis> explain_lost(const FailureCase& the_case) {
  const auto* lost = std::get_if<Lost>(&the_case.ending.outcome);
  if (lost == nullptr) return std::nullopt;
  Diagnosis diagnosis =
      diagnosis_of(the_case, Category::exit_code, Confidence::possible, "is gone, but how it ended was not seen");
  diagnosis.advice.emplace_back("See the system's log (journalctl, dmesg) at the time of its end.");
  return diagnosis;
}

}  // namespace forklift
