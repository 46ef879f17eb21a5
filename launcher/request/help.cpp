#include "launcher/request/help.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "launcher/request/flag_table.hpp"
#include "launcher/request/split_command.hpp"
#include "launcher/request/value_text.hpp"

namespace forklift {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t text_column = 30;

constexpr std::array groups{FlagGroup::program, FlagGroup::size,        FlagGroup::device,  FlagGroup::environment,
                            FlagGroup::output,  FlagGroup::supervision, FlagGroup::planning};

std::string_view heading(FlagGroup group) {
  switch (group) {
    case FlagGroup::program:
      return "What to run";
    case FlagGroup::size:
      return "How many, and where";
    case FlagGroup::device:
      return "Devices and cores";
    case FlagGroup::environment:
      return "What replicas see";
    case FlagGroup::output:
      return "Output";
    case FlagGroup::supervision:
      return "Supervision";
    case FlagGroup::planning:
      return "Planning";
  }
  return {};
}

/// Appends the words of `text` to a line that is `column` wide already; further lines start at `indent`.
void append_wrapped(std::string& out, std::string_view text, std::size_t column, std::size_t indent) {
  bool line_is_empty = true;
  for (const std::string_view word : split_at(text, ' ')) {
    const std::size_t needed = word.size() + (line_is_empty ? 0 : 1);
    if (!line_is_empty && column + needed > columns) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
      line_is_empty = true;
    }
    if (!line_is_empty) out += ' ';
    out += word;
    column += word.size() + (line_is_empty ? 0 : 1);
    line_is_empty = false;
  }
  out += '\n';
}

void append_flag(std::string& out, const Flag& flag) {
  std::string label = fmt::format("  --{}", flag.name);
  if (flag.letter != '\0') label += fmt::format(", -{}", flag.letter);
  if (flag.takes_value()) label += fmt::format(" {}", flag.value);
  out += label;
  if (label.size() + 2 > text_column) {
    out += '\n';
    label.clear();
  }
  out.append(text_column - label.size(), ' ');
  append_wrapped(out, flag.text, text_column, text_column);
}

/// Names of all flags with this status, as one paragraph.
void append_names(std::string& out, std::string_view title, FlagStatus status) {
  std::string names;
  for (const Flag& flag : flag_table())
    if (flag.status == status) names += fmt::format("{}--{}", names.empty() ? "" : ", ", flag.name);
  out += fmt::format("\n{}:\n  ", title);
  append_wrapped(out, names, 2, 2);
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& words) {
  const Result<SplitCommand> split = split_command(words);
  return split && split.value().help == HelpWish::asked;
}

std::string forklift_help() {
  return "Usage: forklift VERB [options]\n"
         "\n"
         "Starts a training job with one process for each replica, watches over it, and\n"
         "says which replica failed, why, and what to do.\n"
         "\n"
         "Verbs:\n"
         "  launch    start a program as N replicas; takes the flags of accelerate launch\n"
         "            and torchrun\n"
         "  report    show the report of a run again\n"
         "  estimate  say whether a model fits into memory, shared or once per process\n"
         "  env       show what forklift sees of this machine\n"
         "  version   print the version\n"
         "\n"
         "forklift VERB --help says more.\n";
}

std::string launch_help() {
  std::string out =
      "Usage: forklift launch [options] [--] PROGRAM [arguments...]\n"
      "\n"
      "Starts PROGRAM once for each replica and ends when all have ended. Everything\n"
      "after PROGRAM belongs to PROGRAM. A .py file is run by Python. Flags may be\n"
      "written with - or _ between words; of the same flag given twice the last counts.\n";
  for (const FlagGroup group : groups) {
    out += fmt::format("\n{}:\n", heading(group));
    for (const Flag& flag : flag_table())
      if (flag.group == group && flag.status == FlagStatus::honoured) append_flag(out, flag);
  }
  append_names(out, "Accepted without effect, a warning says why", FlagStatus::inert);
  append_names(out, "Not supported in this version", FlagStatus::refused);
  out +=
      "\n"
      "TIME is a number of seconds (90, 1.5), or 90s, 10m, 2h or HH:MM:SS.\n"
      "\n"
      "torchrun's PET_... variables give defaults of its flags.\n"
      "\n"
      "Exit status: 0 if every replica exited 0, else that of the replica that failed\n"
      "first (128 + N for signal N); 2 wrong usage, 125 forklift failed, 126 PROGRAM\n"
      "cannot be executed, 127 not found, 130 or 143 stopped by SIGINT or SIGTERM.\n";
  return out;
}

std::string report_help() {
  return "Usage: forklift report [RUN|last] [options]\n"
         "\n"
         "Shows the report of a run again: RUN is the identifier of a run, or a run\n"
         "directory; without it, or with last, the newest run.\n"
         "\n"
         "Options:\n"
         "  --format FORM    text or json\n"
         "  --help, -h       this text\n";
}

std::string estimate_help() {
  return "Usage: forklift estimate (--model PATH | --bytes N) --num-processes N [options]\n"
         "\n"
         "Says how much memory a model takes on one machine, by the way in which its\n"
         "processes get it, and which ways fit; then its size in other types, as\n"
         "accelerate estimate-memory prints it. Starts nothing, loads no weights.\n"
         "\n"
         "The model:\n"
         "  --model PATH         its safetensors: a file, an index or a folder\n"
         "  --bytes N            its size: bytes, or 440M, 12.5G (steps of 1024)\n"
         "  --dtype NAME         the type of its weights, beside --bytes: float32,\n"
         "                       float16 or bfloat16; default float32\n"
         "\n"
         "The machine:\n"
         "  --num-processes N    processes on it, one for each replica\n"
         "  --host-facts FILE    another one than this: made by forklift env --format json\n"
         "\n"
         "Output:\n"
         "  --format FORM        text or json\n"
         "  --help, -h           this text\n"
         "\n"
         "Exit status: 0 if the model fits when it is shared by all processes, 1 if it\n"
         "does not, 2 wrong usage.\n";
}

std::string env_help() {
  return "Usage: forklift env [options]\n"
         "\n"
         "Shows what forklift sees of this machine: cores, memory and their limits,\n"
         "accelerators, and which of its guarantees the kernel allows. The json form is a\n"
         "file for forklift launch --dry-run --host-facts FILE.\n"
         "\n"
         "Options:\n"
         "  --format FORM    text or json\n"
         "  --help, -h       this text\n";
}

}  // namespace forklift
