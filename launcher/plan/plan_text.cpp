#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "launcher/plan/describe_plan.hpp"
#include "launcher/plan/shown_value.hpp"
#include "launcher/plan/text_layout.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

/// Beyond this many replicas the text shows the first ones only; the JSON has all.
constexpr std::size_t most_replicas_shown = 16;

/// The words of a sentence that may quote what the user typed.
std::vector<std::string> words_of(std::string_view text) {
  const std::string safe = printable(text);
  std::string_view sentence = safe;
  std::vector<std::string> words;
  while (!sentence.empty()) {
    const auto blank = sentence.find(' ');
    words.emplace_back(sentence.substr(0, blank));
    sentence.remove_prefix(blank == std::string_view::npos ? sentence.size() : blank + 1);
  }
  return words;
}

std::vector<std::string> shell_words(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  std::transform(argv.begin(), argv.end(), std::back_inserter(words), shell_word);
  return words;
}

std::string assignment(const Plan& plan, const EnvironmentVariable& variable) {
  const std::string value = shown_value(plan, variable.value);
  return variable.name + "=" + (value.empty() ? value : shell_word(value));
}

bool same_command(const Plan& plan) {
  return std::all_of(plan.replicas.begin(), plan.replicas.end(),
                     [&](const ReplicaPlan& replica) { return replica.argv == plan.replicas.front().argv; });
}

std::string headline(const Plan& plan) {
  std::string text = fmt::format("{}, started by {}", counted(plan.world_size, "replica"), name_of(plan.start_method));
  if (plan.num_nodes > 1) {
    text += fmt::format("; {} of them on this node, number {} of {}", plan.replicas.size(), plan.node_rank.value,
                        plan.num_nodes);
  }
  return text + "\n";
}

std::string ports_text(const Plan& plan) {
  std::vector<std::string> words;
  if (!plan.master_address.empty()) words.push_back(plan.master_address);
  for (const PortPlan& port : plan.ports) {
    words.push_back(fmt::format("{}:{}", port.name, port.port == 0 ? "auto" : std::to_string(port.port)));
  }
  return words.empty() ? std::string() : wrapped("  rendezvous  ", words);
}

std::string common_part(const Plan& plan) {
  std::string text;
  if (same_command(plan) && !plan.replicas.empty()) {
    text += wrapped("  command     ", shell_words(plan.replicas.front().argv));
  }
  text += ports_text(plan);
  text += fmt::format("  prefix      {}\n", plan.prefix_template.empty() ? "none" : shell_word(plan.prefix_template));
  if (plan.interactive_rank) text += fmt::format("  terminal    rank {}\n", plan.interactive_rank->value);
  return text + supervision_text(plan);
}

/// The value, and its origin behind it where the line has room, else below it.
std::string common_environment(const Plan& plan) {
  std::string text = "\nenvironment of every replica\n";
  for (const EnvironmentVariable& variable : plan.environment) {
    const std::string line = "  " + assignment(plan, variable);
    const auto origin = plan.origins.find(variable.name);
    text += line;
    if (origin != plan.origins.end()) {
      const std::string note = fmt::format("({})", printable(origin->second));
      constexpr std::size_t origin_column = 44;
      if (line.size() < origin_column && origin_column + note.size() <= text_width) {
        text += std::string(origin_column - line.size(), ' ') + note;
      } else {
        text += line.size() + 1 + note.size() <= text_width ? " " + note : "\n      " + note;
      }
    }
    text += '\n';
  }
  if (!plan.unset.empty()) text += wrapped("  unset: ", plan.unset);
  return text;
}

const char* name_of(StreamRoute route) {
  switch (route) {
    case StreamRoute::console:
      return "console";
    case StreamRoute::file:
      return "file";
    case StreamRoute::console_and_file:
      return "console+file";
    case StreamRoute::kept_only:
      return "hidden";
    case StreamRoute::terminal:
      return "terminal";
  }
  return "console";
}

std::string replica_text(const Plan& plan, const ReplicaPlan& replica, bool with_command) {
  std::string line = fmt::format("  rank {}", replica.rank.value);
  if (!replica.cpus.empty()) line += fmt::format("  cpus {}", ranges(replica.cpus));
  if (replica.standard_input == StdinRoute::inherited) line += "  stdin inherited";
  if (replica.standard_output != StreamRoute::console)
    line += fmt::format("  stdout {}", name_of(replica.standard_output));
  if (replica.standard_error != StreamRoute::console)
    line += fmt::format("  stderr {}", name_of(replica.standard_error));
  line += '\n';
  if (with_command) line += wrapped("    ", shell_words(replica.argv));
  std::vector<std::string> own;
  for (const EnvironmentVariable& variable : replica.environment) own.push_back(assignment(plan, variable));
  return own.empty() ? line : line + wrapped("    ", own);
}

std::string replicas_part(const Plan& plan) {
  std::string text = "\nreplicas\n";
  const bool with_command = !same_command(plan);
  const std::size_t shown = std::min(plan.replicas.size(), most_replicas_shown);
  for (std::size_t index = 0; index < shown; ++index) text += replica_text(plan, plan.replicas[index], with_command);
  if (shown < plan.replicas.size()) {
    text += fmt::format("  and {} more of this kind (--format json shows all)\n",
                        counted(static_cast<long long>(plan.replicas.size() - shown), "replica"));
  }
  return text;
}

/// The origins that do not stand beside their value already; options that nobody set are counted together.
std::string origins_part(const Plan& plan) {
  std::set<std::string> shown;
  for (const EnvironmentVariable& variable : plan.environment) shown.insert(variable.name);
  std::string text;
  std::size_t defaults = 0;
  for (const auto& [name, origin] : plan.origins) {
    if (shown.count(name) != 0) continue;
    if (origin == "default") {
      ++defaults;
    } else {
      text += wrapped(fmt::format("  {}: ", name), words_of(origin));
    }
  }
  if (defaults != 0) text += fmt::format("  default: {}\n", counted(static_cast<long long>(defaults), "other option"));
  return text.empty() ? text : "\norigins\n" + text;
}

std::string warnings_part(const Plan& plan) {
  std::string text;
  for (const std::string& warning : plan.warnings) text += wrapped("  ", words_of(warning));
  return text.empty() ? text : "\nwarnings\n" + text;
}

}  // namespace

std::string plan_text(const Plan& plan) {
  return headline(plan) + common_part(plan) + common_environment(plan) + replicas_part(plan) + origins_part(plan) +
         warnings_part(plan);
}

}  // namespace forklift
