// What a tired person reads first: what happened, where, what to do, and what became of the others.
#include <fmt/format.h>

#include <algorithm>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "launcher/report/replica_groups.hpp"
#include "launcher/report/report_format.hpp"
#include "worker/format/byte_text.hpp"

namespace forklift {
namespace {

constexpr std::size_t text_width = 100;  ///< Columns of wrapped paragraphs; lines of the program itself stay whole.

enum class Emphasis { failure, warning, heading };

/// Collects the lines of the report; the only place that knows of colours and of wrapping.
class Page {
 public:
  explicit Page(TextStyle style) : style_(style) {}

  void line(std::string_view text) { text_.append(text).push_back('\n'); }
  void blank() { text_.push_back('\n'); }
  void emphasised(Emphasis emphasis, std::string_view text) {
    if (style_ == TextStyle::plain) return line(text);
    line(fmt::format("\x1b[{}m{}\x1b[0m", code_of(emphasis), text));
  }

  /// A paragraph broken at spaces; lines after the first are indented as far as its first word.
  void wrapped(std::string_view lead, std::string_view text) {
    const std::string indent(lead.size(), ' ');
    std::string current(lead);
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const std::string_view word = rest.substr(0, end);
      const bool first_of_line = current.size() == indent.size();
      if (!first_of_line && current.size() + 1 + word.size() > text_width) {
        line(current);
        current = indent;
      }
      if (current.size() > indent.size()) current.push_back(' ');
      current.append(word);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    line(current);
  }

  [[nodiscard]] std::string finish() && { return std::move(text_); }

 private:
  static std::string_view code_of(Emphasis emphasis) {
    switch (emphasis) {
      case Emphasis::failure:
        return "1;31";
      case Emphasis::warning:
        return "1;33";
      case Emphasis::heading:
        return "1";
    }
    return "0";
  }

  TextStyle style_;
  std::string text_;
};

const ReplicaReport* culprit_of(const RunReport& report) {
  const auto found = std::find_if(report.replicas.begin(), report.replicas.end(),
                                  [](const ReplicaReport& replica) { return replica.role == ReplicaRole::root_cause; });
  return found == report.replicas.end() ? nullptr : &*found;
}

/// What became of the launcher before its replicas had ended; empty: nothing.
std::string_view loss_of_launcher(const RunReport& report) {
  if (report.ended_by == EndedBy::launcher) return "forklift itself was killed";
  return report.ended_by == EndedBy::host ? "the program that launched the replicas is gone" : "";
}

std::string failed_sentence(const RunReport& report) {
  if (report.root_cause) return report.root_cause->diagnosis.summary;
  if (!report.launcher_error.empty()) return fmt::format("The job failed: {}.", report.launcher_error);
  if (const auto loss = loss_of_launcher(report); !loss.empty()) {
    return fmt::format("The job failed because {}: its replicas were ended with it.", loss);
  }
  return "The job failed, but no replica failed by itself.";
}

std::string succeeded_sentence(const RunReport& report) {
  const std::size_t restarts = report.attempts.empty() ? 0 : report.attempts.size() - 1;
  if (restarts == 0) return "The job succeeded.";
  return fmt::format("The job succeeded after {} restart{}.", restarts, restarts == 1 ? "" : "s");
}

std::string running_sentence(const RunReport& report) {
  return fmt::format("The job is still running, since {}{}.", report.started,
                     report.launcher_pid == 0 ? "" : fmt::format(" (pid {})", report.launcher_pid));
}

std::string stopped_sentence(const RunReport& report) {
  if (report.ended_by == EndedBy::time_limit) {
    return report.time_limit_s ? fmt::format("The job was stopped: its time limit of {} s (--time-limit) was reached.",
                                             *report.time_limit_s)
                               : "The job was stopped: its time limit (--time-limit) was reached.";
  }
  if (report.ended_by == EndedBy::terminal) {
    return fmt::format("The job was stopped by its user ({}).", signal_name(report.stop_signal));
  }
  const std::string by = report.stop_signal == 0 ? "" : " by " + signal_name(report.stop_signal);
  return fmt::format("The job was stopped{} from outside.", by);
}

void write_first_line(const RunReport& report, Page& page) {
  switch (report.result) {
    case RunResult::succeeded:
      page.line("forklift: " + succeeded_sentence(report));
      return;
    case RunResult::running:
      page.line("forklift: " + running_sentence(report));
      return;
    case RunResult::interrupted:
      page.emphasised(Emphasis::warning, "forklift: " + stopped_sentence(report));
      return;
    case RunResult::failed:
      page.emphasised(Emphasis::failure, "forklift: " + failed_sentence(report));
      if (const auto loss = loss_of_launcher(report); report.root_cause && !loss.empty()) {
        page.line(fmt::format("Besides, {}: the other replicas were ended with it.", loss));
      }
      return;
  }
}

std::vector<std::string> last_lines_of_culprit(const RunReport& report) {
  if (report.root_cause->rank == template_rank) {
    return report.template_process ? report.template_process->last_lines : std::vector<std::string>{};
  }
  const ReplicaReport* culprit = culprit_of(report);
  return culprit == nullptr ? std::vector<std::string>{} : culprit->last_lines;
}

/// The traceback, else the last lines, each with the rank in front.
void write_words_of_culprit(const RunReport& report, Page& page) {
  const RootCause& cause = *report.root_cause;
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(cause.diagnosis.traceback)) lines.emplace_back(line);
  if (lines.empty()) lines = last_lines_of_culprit(report);
  if (lines.empty()) return;
  const std::string speaker =
      cause.rank == template_rank ? std::string("template") : fmt::format("rank {}", cause.rank.value);
  page.blank();
  for (const std::string& line : lines) {
    const std::string text = fmt::format("  [{}] {}", speaker, line);
    page.line(std::string_view(text).substr(0, text.find_last_not_of(' ') + 1));
  }
}

/// Where its whole output is, of which the report shows the end.
void write_files_of_culprit(const RunReport& report, Page& page) {
  const ReplicaReport* culprit = culprit_of(report);
  if (culprit == nullptr || (culprit->stdout_file.empty() && culprit->stderr_file.empty())) return;
  page.blank();
  if (!culprit->stderr_file.empty()) page.line(fmt::format("its stderr: {}", culprit->stderr_file));
  if (!culprit->stdout_file.empty()) page.line(fmt::format("its stdout: {}", culprit->stdout_file));
}

void write_last_heartbeat(const RunReport& report, Page& page) {
  const ReplicaReport* culprit = culprit_of(report);
  if (culprit == nullptr || !culprit->last_step || !culprit->last_beat_s) return;
  page.blank();
  page.line(fmt::format("last heartbeat: step {}, {:.1f} s before its end", *culprit->last_step,
                        std::max(0.0, culprit->ended_s - *culprit->last_beat_s)));
}

/// True where the first sentence and the traceback already say all: a certain verdict with nothing but the outcome as
/// its evidence, or an exception.
bool speaks_for_itself(const Diagnosis& diagnosis) {
  if (diagnosis.evidence.empty()) return true;
  if (diagnosis.confidence != Confidence::certain) return false;
  return diagnosis.category == Category::python_exception || diagnosis.evidence.size() == 1;
}

/// What the verdict rests on, and how sure it is.
void write_evidence(const Diagnosis& diagnosis, Page& page) {
  if (speaks_for_itself(diagnosis)) return;
  page.blank();
  page.emphasised(Emphasis::heading, fmt::format("Why ({}):", confidence_name(diagnosis.confidence)));
  for (const std::string& fact : diagnosis.evidence) page.wrapped("  - ", fact);
}

void write_advice(const Diagnosis& diagnosis, Page& page) {
  if (diagnosis.advice.empty()) return;
  page.blank();
  page.emphasised(Emphasis::heading, "What to do:");
  for (const std::string& advice : diagnosis.advice) page.wrapped("  - ", advice);
}

void write_root_cause(const RunReport& report, Page& page) {
  if (!report.root_cause) return;
  if (report.result != RunResult::failed) page.line(report.root_cause->diagnosis.summary);
  write_words_of_culprit(report, page);
  write_files_of_culprit(report, page);
  write_last_heartbeat(report, page);
  write_evidence(report.root_cause->diagnosis, page);
  write_advice(report.root_cause->diagnosis, page);
}

/// What ended the attempts before the last one.
void write_earlier_attempts(const RunReport& report, Page& page) {
  for (std::size_t at = 0; at + 1 < report.attempts.size(); ++at) {
    const AttemptReport& attempt = report.attempts[at];
    const std::string why =
        attempt.root_cause ? attempt.root_cause->diagnosis.summary : "It failed, but no replica failed by itself.";
    page.wrapped(fmt::format("attempt {}: ", attempt.attempt.value), why);
  }
}

/// What sharing has saved.
void write_model(const ModelReport& model, Page& page) {
  std::string text = fmt::format("{} is in memory once ({}, {})", model.path, format_bytes(model.bytes),
                                 model.mapped_by == "file" ? "the mapped file" : model.mapped_by);
  const auto copies = static_cast<std::uint64_t>(model.pss_replicas);
  // Beside a small model it is what the processes hold anyway, and says nothing about sharing.
  if (model.pss_bytes && *model.pss_bytes < copies * model.bytes) {
    text += fmt::format("; {} replica{} held {} together, where {} of their own would take {}", model.pss_replicas,
                        copies == 1 ? "" : "s", format_bytes(*model.pss_bytes), copies == 1 ? "a copy" : "copies",
                        format_bytes(copies * model.bytes));
  }
  page.wrapped("model: ", text);
}

void write_others(const RunReport& report, Page& page) {
  page.blank();
  if (report.result != RunResult::succeeded) {
    for (const std::string& line : other_replicas(report)) page.line(line);
  }
  write_earlier_attempts(report, page);
  for (const Leftover& leftover : report.leftovers) {
    page.wrapped("left behind: ", fmt::format("pid {} ({}): {}", leftover.pid, leftover.command, leftover.what));
  }
  if (report.model) write_model(*report.model, page);
  for (const std::string& note : report.notes) page.wrapped("note: ", note);
  if (!report.run_id.empty() && report.result != RunResult::running) {
    page.line(fmt::format("Full report: forklift report {}{}", report.run_id,
                          report.run_directory.empty() ? "" : fmt::format("  (files in {})", report.run_directory)));
  }
}

}  // namespace

std::string text_report(const RunReport& report, TextStyle style) {
  const bool nothing_to_say = report.result == RunResult::succeeded && report.notes.empty() &&
                              report.leftovers.empty() && !report.model && report.attempts.size() < 2;
  if (nothing_to_say) return {};
  Page page(style);
  write_first_line(report, page);
  write_root_cause(report, page);
  write_others(report, page);
  return std::move(page).finish();
}

}  // namespace forklift
