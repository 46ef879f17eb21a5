// events.jsonl → the report of a run that did not come to write its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "launcher/diagnose/diagnose.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "launcher/report/event_log.hpp"
#include "launcher/report/event_words.hpp"
#include "launcher/report/report_words.hpp"
#include "launcher/report/summarize.hpp"

namespace forklift {
namespace {

constexpr int launcher_failed = 125;
constexpr double ns_per_s = 1e9;

/// A replica of the attempt that is being told; it has no outcome until its end was read.
struct OpenReplica {
  Ending ending;
  bool ended = false;
};

/// Takes the events in the order of the file and keeps what the report needs.
class Retelling {
 public:
  void take(const RunEvent& event) {
    last_wall_ = event.wall;
    switch (event.kind) {
      case RunEventKind::run_started:
        begin_run(event);
        break;
      case RunEventKind::attempt_started:
        begin_attempt(event.attempt.value_or(Attempt{attempt_.value + 1}));
        break;
      case RunEventKind::replica_started:
        begin_replica(event);
        break;
      case RunEventKind::replica_exited:
        end_replica(event);
        break;
      case RunEventKind::stop_requested:
        if (facts_.stop_signal == 0) facts_.stop_signal = event.signal.value_or(0);
        break;
      case RunEventKind::run_ended:
        exit_status_ = event.exit_status.value_or(launcher_failed);
        facts_.ended_by = ended_by_of_name(event.note).value_or(EndedBy::nobody);
        if (event.signal) facts_.stop_signal = *event.signal;
        break;
      case RunEventKind::signal_sent:
      case RunEventKind::stranger_reaped:
      case RunEventKind::attempt_ended:
        break;
      case RunEventKind::template_started:
        facts_.template_ending.emplace();
        facts_.template_ending->ending.pid = event.pid.value_or(0);
        break;
      case RunEventKind::template_ended:
        if (event.outcome) end_template(*event.outcome);
        break;
    }
  }

  void skip_line() { ++skipped_; }

  [[nodiscard]] bool began() const { return began_; }

  RunReport finish(const std::string& run_directory, const RunHolder& holder) && {
    const bool runs = !exit_status_ && holder.life == RunLife::running;
    close_attempt();
    facts_.run_directory = run_directory;
    facts_.ended = runs ? "" : last_wall_;
    facts_.result = runs ? RunResult::running : result();
    if (!exit_status_ && !runs) facts_.ended_by = EndedBy::launcher;
    facts_.endings = endings();
    add_notes(runs ? RunLife::running : holder.life);
    RunReport report = summarize(plan_, std::move(facts_));
    report.exit_status = runs ? 0 : exit_status_.value_or(launcher_failed);
    if (runs) report.launcher_pid = holder.launcher_pid;
    for (ReplicaReport& replica : report.replicas) {
      if (runs && !replicas_.at(replica.rank).ended) replica.role = ReplicaRole::running;
    }
    return report;
  }

 private:
  void begin_run(const RunEvent& event) {
    began_ = true;
    started_ns_ = event.mono_ns;
    plan_.run_id = event.run_id;
    plan_.world_size = event.world_size.value_or(0);
    facts_.command = event.command;
    facts_.started = event.wall;
  }

  void begin_attempt(Attempt attempt) {
    if (!replicas_.empty()) close_attempt();
    replicas_.clear();
    attempt_ = attempt;
  }

  /// Every attempt has its own replicas; an event of a later one opens it, should its own line be torn.
  OpenReplica& replica_of(const RunEvent& event) {
    if (event.attempt && *event.attempt != attempt_) begin_attempt(*event.attempt);
    Ending& ending = replicas_[*event.rank].ending;
    ending.rank = *event.rank;
    ending.attempt = attempt_;
    if (event.local_rank) ending.local_rank = *event.local_rank;
    if (event.pid) ending.pid = *event.pid;
    return replicas_[*event.rank];
  }

  void begin_replica(const RunEvent& event) { replica_of(event).ending.started_s = seconds_at(event); }

  void end_replica(const RunEvent& event) {
    OpenReplica& replica = replica_of(event);
    replica.ended = true;
    replica.ending.outcome = *event.outcome;
    replica.ending.asked = event.asked.value_or(AskedToStop::no);
    replica.ending.ended_s = seconds_at(event);
    replica.ending.order = event.sequence;
  }

  void end_template(const Outcome& outcome) {
    if (!facts_.template_ending) return;
    facts_.template_ending->ending.outcome = outcome;
    facts_.template_ending->state = TemplateEnding::State::ended;
  }

  [[nodiscard]] double seconds_at(const RunEvent& event) const {
    return (static_cast<double>(event.mono_ns) - static_cast<double>(started_ns_)) / ns_per_s;
  }

  /// Explains the attempt from the ends that were recorded: a replica that was cut off with the supervisor is no cause.
  void close_attempt() {
    std::vector<Ending> recorded;
    for (const auto& [rank, replica] : replicas_) {
      if (replica.ended) recorded.push_back(replica.ending);
    }
    std::optional<RootCause> cause = diagnose(plan_, recorded, AttemptEvidence{});
    if (cause) {
      cause->diagnosis.evidence.resize(1);  // the outcome: what else the rules say rests on output that is not here
      cause->diagnosis.evidence.emplace_back("its output is not in events.jsonl");
    }
    facts_.attempts.push_back({attempt_, std::move(cause)});
  }

  std::vector<Ending> endings() {
    std::vector<Ending> all;
    for (auto& [rank, replica] : replicas_) {
      if (!replica.ended) {
        replica.ending.outcome = Lost{"its end was not recorded"};
        replica.ending.ended_s = replica.ending.started_s;
      }
      all.push_back(replica.ending);
    }
    return all;
  }

  [[nodiscard]] RunResult result() const {
    if (exit_status_ == 0) return RunResult::succeeded;
    constexpr int signal_base = 128;
    const bool stopped = facts_.stop_signal != 0 && exit_status_ == signal_base + facts_.stop_signal;
    return stopped ? RunResult::interrupted : RunResult::failed;
  }

  void add_notes(RunLife life) {
    if (exit_status_) {
      facts_.notes.emplace_back(
          "this report was put together again from events.jsonl: output and resource usage are not in it");
    } else if (life == RunLife::unknown) {
      facts_.notes.emplace_back(
          "the end of the run is not recorded, and the file system of its directory keeps no locks: it may also be "
          "still running");
    } else if (life == RunLife::ended) {
      facts_.notes.emplace_back(
          "forklift's supervisor was killed before it could write the report: this one was put together from "
          "events.jsonl");
    }
    if (skipped_ > 0) {
      facts_.notes.push_back(
          fmt::format("{} line{} of events.jsonl could not be read", skipped_, skipped_ == 1 ? "" : "s"));
    }
  }

  Plan plan_;
  RunFacts facts_;
  std::map<Rank, OpenReplica> replicas_;
  Attempt attempt_;
  std::optional<int> exit_status_;
  std::string last_wall_;
  std::int64_t started_ns_ = 0;
  int skipped_ = 0;
  bool began_ = false;
};

}  // namespace

Result<RunReport> rebuild_report(std::string_view events_jsonl, const std::string& run_directory,
                                 const RunHolder& holder) {
  Retelling retelling;
  for (const std::string_view line : split_lines(events_jsonl)) {
    if (trimmed(line).empty()) continue;
    if (const std::optional<RunEvent> event = read_event_line(line)) {
      retelling.take(*event);
    } else {
      retelling.skip_line();
    }
  }
  if (!retelling.began()) {
    return Error{
        ErrorKind::usage,
        fmt::format("{}/events.jsonl: no readable 'run_started' event, so there is no run to report", run_directory)};
  }
  return std::move(retelling).finish(run_directory, holder);
}

}  // namespace forklift
