#include "launcher/report/summarize.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/same_failure.hpp"

namespace forklift {
namespace {

constexpr int signal_base = 128;
constexpr int wrong_usage = 2;
constexpr int launcher_failed = 125;
constexpr int not_executable = 126;
constexpr int not_found = 127;

constexpr std::size_t kept_lines = 10;
constexpr std::size_t kept_tail = std::size_t{4} << 10;  ///< Bytes of a tail that the last lines are taken from.

int exit_status_for(const Exited& exited) { return exited.code == 0 ? launcher_failed : exited.code; }
int exit_status_for(const Signalled& signalled) { return signal_base + signalled.signal; }
int exit_status_for(const Lost&) { return launcher_failed; }
int exit_status_for(const FailedToStart& failure) {
  if (failure.step == StartStep::fork_point) return wrong_usage;
  if (failure.step != StartStep::execute) return launcher_failed;
  return failure.os_errno == ENOENT ? not_found : not_executable;
}

/// Only the end of a long tail is cleaned: a job may have thousands of replicas. A cut first line is left out.
std::vector<std::string> last_lines_of(std::string_view tail) {
  if (tail.size() > kept_tail) {
    const std::size_t line_end = tail.find('\n', tail.size() - kept_tail);
    tail.remove_prefix(line_end == std::string_view::npos ? tail.size() - kept_tail : line_end + 1);
  }
  return last_lines(tail, kept_lines);
}

/// The root cause of the run, and how to know its like.
struct Culprit {
  Rank rank;
  FailureWords words;
};

std::optional<Culprit> find_culprit(const std::vector<Ending>& endings, const std::optional<RootCause>& root_cause) {
  for (const Ending& ending : endings) {
    if (root_cause && root_cause->rank == ending.rank) return Culprit{ending.rank, FailureWords(ending)};
  }
  return std::nullopt;
}

ReplicaRole role_of(const Ending& ending, const std::optional<Culprit>& culprit) {
  if (culprit && culprit->rank == ending.rank) return ReplicaRole::root_cause;
  if (succeeded(ending.outcome)) return ReplicaRole::succeeded;
  return culprit && culprit->words.shared_by(ending) ? ReplicaRole::failed_alike : ReplicaRole::collateral;
}

ReplicaReport replica_report(const Ending& ending, const std::optional<Culprit>& culprit) {
  ReplicaReport replica;
  replica.rank = ending.rank;
  replica.local_rank = ending.local_rank;
  replica.attempt = ending.attempt;
  replica.pid = ending.pid;
  replica.outcome = ending.outcome;
  replica.asked = ending.asked;
  replica.role = role_of(ending, culprit);
  replica.started_s = ending.started_s;
  replica.ended_s = ending.ended_s;
  replica.peak_rss_bytes = ending.peak_rss_bytes;
  replica.cpu_user_s = ending.cpu_user_s;
  replica.cpu_system_s = ending.cpu_system_s;
  replica.last_step = ending.last_step;
  replica.last_beat_s = ending.last_beat_s;
  replica.last_lines = last_lines_of(ending.stderr_tail);
  if (replica.last_lines.empty()) replica.last_lines = last_lines_of(ending.stdout_tail);
  return replica;
}

std::vector<ReplicaReport> replica_reports(std::vector<Ending> endings, const std::optional<RootCause>& root_cause) {
  std::sort(endings.begin(), endings.end(),
            [](const Ending& left, const Ending& right) { return left.rank < right.rank; });
  const std::optional<Culprit> culprit = find_culprit(endings, root_cause);
  std::vector<ReplicaReport> replicas;
  replicas.reserve(endings.size());
  for (const Ending& ending : endings) replicas.push_back(replica_report(ending, culprit));
  return replicas;
}

std::optional<TemplateReport> template_report(const std::optional<TemplateEnding>& seen) {
  if (!seen) return std::nullopt;
  TemplateReport process;
  process.pid = seen->ending.pid;
  if (seen->state == TemplateEnding::State::ended) process.outcome = seen->ending.outcome;
  process.last_lines = last_lines_of(seen->ending.stderr_tail);
  if (process.last_lines.empty()) process.last_lines = last_lines_of(seen->ending.stdout_tail);
  return process;
}

}  // namespace

RunReport summarize(const Plan& plan, RunFacts facts) {
  RunReport report;
  if (facts.result != RunResult::succeeded && !facts.attempts.empty()) {
    report.root_cause = facts.attempts.back().root_cause;
  }
  report.run_id = plan.run_id;
  report.run_directory = std::move(facts.run_directory);
  report.command = std::move(facts.command);
  report.started = std::move(facts.started);
  report.ended = std::move(facts.ended);
  report.exit_status = exit_status_of(facts.result, facts.stop_signal, report.root_cause);
  report.result = facts.result;
  report.stop_signal = facts.stop_signal;
  report.ended_by = facts.ended_by;
  report.launcher_error = std::move(facts.launcher_error);
  if (report.ended_by == EndedBy::time_limit && plan.time.limit) {
    report.time_limit_s = std::chrono::duration<double>(*plan.time.limit).count();
  }
  report.world_size = plan.world_size;
  report.attempts = std::move(facts.attempts);
  report.replicas = replica_reports(std::move(facts.endings), report.root_cause);
  for (ReplicaReport& replica : report.replicas) {
    const auto files = facts.log_files.find(replica.rank);
    if (files == facts.log_files.end()) continue;
    replica.stdout_file = files->second.standard_output;
    replica.stderr_file = files->second.standard_error;
  }
  report.template_process = template_report(facts.template_ending);
  report.model = std::move(facts.model);
  report.leftovers = std::move(facts.leftovers);
  report.notes = std::move(facts.notes);
  return report;
}

int exit_status_of(RunResult result, int stop_signal, const std::optional<RootCause>& root_cause) {
  switch (result) {
    case RunResult::succeeded:
    case RunResult::running:
      return 0;
    case RunResult::interrupted:
      return signal_base + (stop_signal == 0 ? SIGTERM : stop_signal);
    case RunResult::failed:
      if (!root_cause) return launcher_failed;
      return std::visit([](const auto& outcome) { return exit_status_for(outcome); }, root_cause->outcome);
  }
  return launcher_failed;
}

}  // namespace forklift
