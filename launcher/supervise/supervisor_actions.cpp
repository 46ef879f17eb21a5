// What the policy has decided, done: one function for each action.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "launcher/diagnose/diagnose.hpp"
#include "launcher/output/tail.hpp"
#include "launcher/report/report_format.hpp"
#include "launcher/report/report_words.hpp"
#include "launcher/report/summarize.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/ports.hpp"
#include "launcher/system/run_directory.hpp"
#include "launcher/system/termination_log.hpp"
#include "worker/format/heartbeat.hpp"

namespace forklift {
namespace {

constexpr auto silent_stop = std::chrono::seconds(1);
constexpr std::size_t most_named = 8;

bool speaks_of_a_busy_port(const Ending& ending) {
  return ending.stderr_tail.find("ddress already in use") != std::string::npos ||
         ending.stderr_tail.find("EADDRINUSE") != std::string::npos;
}

EndedBy ended_by(const std::optional<policy::Asker>& asker) {
  if (!asker) return EndedBy::nobody;
  switch (*asker) {
    case policy::Asker::terminal:
      return EndedBy::terminal;
    case policy::Asker::outside:
      return EndedBy::outside;
    case policy::Asker::time_limit:
      return EndedBy::time_limit;
  }
  return EndedBy::nobody;
}

}  // namespace

void Supervisor::perform(const policy::ReservePorts& action) {
  if (action.attempt.value > 0) announce_restart(action.attempt);
  attempt_ = AttemptValues{action.attempt, inputs_.run_directory, {}};
  const auto& ports = inputs_.plan.ports;
  int wanted = 0;
  for (const PortPlan& port : ports) wanted += port.port == 0 ? 1 : 0;
  auto found = find_free_ports(wanted);
  if (!found) {
    launcher_error_ = found.error().message;
    handle(policy::LauncherFailed{});
    return;
  }
  auto next = found.value().begin();
  for (const PortPlan& port : ports) attempt_.ports.push_back(port.port == 0 ? *next++ : port.port);
  handle(policy::PortsReserved{action.attempt});
}

void Supervisor::perform(const policy::StartGroup& action) {
  RunEvent started = RunEvent::of(RunEventKind::attempt_started);
  started.attempt = action.attempt;
  events_.add(std::move(started));
  evidence_ = AttemptEvidence{};
  evidence_.oom_before = read_oom_counters(memory_cgroup_);
  rendezvous_ = Rendezvous::unknown;
  rendezvous_looks_ = 0;
  sharing_.reset();
  sweeping_.reset();
  patience_.cancel();
  output_.close_all();  // The last attempt's streams and tails.
  group_.start(attempt_);
}

void Supervisor::perform(const policy::CancelStart&) { group_.cancel_start(); }

// A template that is still loading takes part in the stop ladder.
void Supervisor::perform(const policy::StopReplicas& action) {
  RunEvent sent = RunEvent::of(RunEventKind::signal_sent);
  sent.signal = action.signal;
  events_.add(std::move(sent));
  memory_.end();
  group_.stop(action.signal);
  if (fork_starter_) fork_starter_->stop(action.signal);
  patience_.expires_after(silent_stop);
  patience_.async_wait([this](const boost::system::error_code& error) {
    if (!error) say_whom_we_wait_for();
  });
}

/// A stop may take as long as the user has allowed; without a word it looks like a hang.
void Supervisor::say_whom_we_wait_for() {
  if (phase_ == Phase::leaving || group_.running() == 0) return;
  std::vector<int> ranks;
  for (const ReplicaPlan& replica : inputs_.plan.replicas) {
    if (group_.pid_of(replica.rank) != 0) ranks.push_back(replica.rank.value);
  }
  const std::size_t running = ranks.size();
  if (running > most_named) ranks.resize(most_named);
  say(fmt::format("waiting for {} to stop ({} {}{}); {:g} s after the stop signal they are killed",
                  running == 1 ? "1 replica" : fmt::format("{} replicas", running), running == 1 ? "rank" : "ranks",
                  fmt::join(ranks, ", "), running > most_named ? ", …" : "",
                  std::chrono::duration<double>(inputs_.plan.stop.shutdown_timeout).count()));
}

void Supervisor::perform(const policy::KillReplicas&) {
  RunEvent sent = RunEvent::of(RunEventKind::signal_sent);
  sent.signal = SIGKILL;
  events_.add(std::move(sent));
  memory_.end();
  group_.kill();
  if (fork_starter_) fork_starter_->kill();
}

void Supervisor::perform(const policy::PassSignal& action) { group_.pass(action.signal); }

void Supervisor::perform(const policy::AbandonReplicas&) {
  for (Leftover& leftover : descendants_.name()) {
    if (!group_.is_replica(leftover.pid)) continue;
    leftover.what = "a replica that did not end after SIGKILL: stuck in the kernel";
    leftovers_.push_back(std::move(leftover));
  }
  group_.abandon();
  if (fork_starter_) fork_starter_->abandon();
}

void Supervisor::perform(const policy::SweepDescendants& action) {
  sweeping_ = action.how;
  handle(policy::DescendantsLeft{descendants_.sweep(action.how)});
}

void Supervisor::perform(const policy::NameLeftovers&) {
  for (Leftover& leftover : descendants_.name()) {
    const bool named = std::ranges::find(leftovers_, leftover.pid, &Leftover::pid) != leftovers_.end();
    if (!named) leftovers_.push_back(std::move(leftover));  // A replica that was abandoned is still there.
  }
}

void Supervisor::perform(const policy::DiagnoseAttempt& action) {
  sweeping_.reset();
  memory_.end();
  output_.drain();
  if (fork_starter_) fork_starter_->process().drain();
  heartbeats_ = read_file(heartbeat_file(inputs_.run_directory)).value_or("");
  auto endings = whole_endings();
  if (fork_starter_ && fork_starter_->failed_template()) {
    endings.insert(endings.begin(), *fork_starter_->failed_template());
    endings.front().order = 0;  // Before every replica: they were never born.
    for (std::size_t i = 1; i < endings.size(); ++i) ++endings[i].order;
  }
  const bool failed =
      std::any_of(endings.begin(), endings.end(), [](const Ending& ending) { return !succeeded(ending.outcome); });
  auto cause = failed ? diagnose(inputs_.plan, endings, gather_evidence(endings)) : std::nullopt;
  std::optional<Category> category;
  if (cause) category = cause->diagnosis.category;
  attempts_.push_back({action.attempt, std::move(cause)});
  RunEvent ended = RunEvent::of(RunEventKind::attempt_ended);
  ended.attempt = action.attempt;
  events_.add(std::move(ended));
  handle(policy::AttemptDiagnosed{category});
}

void Supervisor::perform(const policy::Finish& action) {
  RunFacts facts;
  facts.run_directory = inputs_.run_directory;
  facts.command = inputs_.command;
  facts.started = inputs_.started;
  facts.ended = RunClock::wall();
  facts.result = action.result;
  facts.stop_signal = action.stop_signal;
  facts.ended_by = action.result == RunResult::failed ? lost_ : ended_by(action.asker);
  facts.endings = whole_endings();
  facts.log_files = log_files();
  facts.launcher_error = launcher_error_;
  if (fork_starter_ && fork_starter_->process().ending().pid != 0) {
    const TemplateProcess& process = fork_starter_->process();
    facts.template_ending = {process.ending(),
                             process.alive() ? TemplateEnding::State::alive : TemplateEnding::State::ended};
  }
  facts.model = model_report();
  facts.attempts = attempts_;
  // The current one ended without a diagnosis, for reasons of ours: the last failure before it is not its cause.
  if (!attempts_.empty() && attempts_.back().attempt < attempt_.attempt) {
    facts.attempts.push_back({attempt_.attempt, std::nullopt});
  }
  facts.leftovers = leftovers_;
  facts.notes = notes_;
  const int replicas = static_cast<int>(inputs_.plan.replicas.size());
  if (action.result == RunResult::succeeded && replicas > 1 && rendezvous_looks_ > 0 &&
      rendezvous_ == Rendezvous::unknown) {
    facts.notes.push_back(fmt::format(
        "{0} replicas ran alone: none connected to the rendezvous port {1}. If they were meant to train together, the "
        "program has to initialise its framework's process group (e.g. torch.distributed.init_process_group, "
        "Accelerator())",
        replicas, attempt_.ports.front()));
  }
  for (const std::string& note : console_.notes()) facts.notes.push_back(note);
  for (const std::string& note : output_.notes()) facts.notes.push_back(note);
  if (!events_.problem().empty()) facts.notes.push_back(events_.problem());
  ::unlink(heartbeat_file(inputs_.run_directory).c_str());
  publish(summarize(inputs_.plan, std::move(facts)));
}

void Supervisor::announce_restart(Attempt attempt) {
  const auto& cause = attempts_.back().root_cause;
  say(fmt::format("attempt {} failed{} Starting all replicas again (restart {}).", attempts_.back().attempt.value,
                  cause ? ": " + cause->diagnosis.summary : ".", attempt.value));
}

std::vector<Ending> Supervisor::whole_endings() const {
  std::vector<Ending> endings = group_.endings();
  for (Ending& ending : endings) {
    add_output(ending);
    add_heartbeat(ending);
  }
  return endings;
}

void Supervisor::add_output(Ending& ending) const {
  ending.stdout_tail = output_.tail(ending.rank, OutputStream::standard_output);
  ending.stderr_tail = output_.tail(ending.rank, OutputStream::standard_error);
  const ReplicaPlan& replica = inputs_.plan.replicas[ending.local_rank.index()];
  if (replica.standard_error == StreamRoute::file) {
    ending.stderr_tail =
        read_file_tail(log_path(attempt_, replica, OutputStream::standard_error), Tail::traceback_bytes);
  }
  if (replica.standard_output == StreamRoute::file) {
    ending.stdout_tail = read_file_tail(log_path(attempt_, replica, OutputStream::standard_output), Tail::usual_bytes);
  }
}

std::map<Rank, LogFiles> Supervisor::log_files() const {
  const auto in_a_file = [](StreamRoute route) {
    return route == StreamRoute::file || route == StreamRoute::console_and_file;
  };
  std::map<Rank, LogFiles> files;
  for (const ReplicaPlan& replica : inputs_.plan.replicas) {
    if (in_a_file(replica.standard_output))
      files[replica.rank].standard_output = log_path(attempt_, replica, OutputStream::standard_output);
    if (in_a_file(replica.standard_error))
      files[replica.rank].standard_error = log_path(attempt_, replica, OutputStream::standard_error);
  }
  return files;
}

void Supervisor::add_heartbeat(Ending& ending) const {
  const auto beat = heartbeat_of(heartbeats_, ending.rank, ending.attempt);
  if (!beat) return;
  ending.last_step = beat->step;
  ending.last_beat_s = inputs_.clock.seconds_at(beat->mono_ns);
}

AttemptEvidence Supervisor::gather_evidence(const std::vector<Ending>& endings) const {
  AttemptEvidence evidence = evidence_;
  evidence.oom_after = read_oom_counters(memory_cgroup_);
  evidence.executable = inputs_.executable;
  evidence.memory_limit_bytes = read_memory_limit(memory_cgroup_);
  evidence.memory_total_bytes = read_memory_total();
  const std::string errors = inputs_.run_directory + "/errors";
  const auto written = list_directory(errors);
  for (const Ending& ending : endings) {
    const std::string name = fmt::format("{}-{}.json", attempt_.attempt.value, ending.rank.value);
    if (succeeded(ending.outcome) || !written.contains(name)) continue;
    if (auto text = read_file(errors + "/" + name)) evidence.error_files[ending.rank] = std::move(*text);
  }
  // The kernel's table of connections takes milliseconds to read: only where a replica complained.
  if (std::none_of(endings.begin(), endings.end(), speaks_of_a_busy_port)) return evidence;
  for (std::size_t i = 0; i < attempt_.ports.size() && !evidence.port_holder; ++i) {
    evidence.port_holder = holder_of_port(attempt_.ports[i]);
  }
  return evidence;
}

void Supervisor::publish(const RunReport& report) {
  exit_status_ = report.exit_status;
  RunEvent ended = RunEvent::of(RunEventKind::run_ended);
  ended.exit_status = report.exit_status;
  if (report.stop_signal != 0) ended.signal = report.stop_signal;
  ended.note = ended_by_name(report.ended_by);
  events_.add(std::move(ended));
  events_.flush();
  spare_.close();
  const auto written = write_file(inputs_.run_directory + "/report.json", json_report(report));
  const TextStyle style = console_.coloured(OutputStream::standard_error) ? TextStyle::coloured : TextStyle::plain;
  const std::string text = text_report(report, style);
  const bool hushed = inputs_.chatter == Chatter::quiet && report.result == RunResult::succeeded;
  if (!text.empty() && !hushed) console_.write(OutputStream::standard_error, text);
  if (!written) say(written.error().message);
  if (report.result != RunResult::succeeded) write_termination_log(text_report(report, TextStyle::plain));
  // A shell script stops at Ctrl-C only if the program it ran has died of it.
  if (report.stop_signal == SIGINT) guard_.send({GuardMessage::Kind::die_of_signal, SIGINT});
  phase_ = Phase::leaving;
  timer_.cancel();
  patience_.cancel();
  if (!host_) return console_.when_flushed([this] { leave(); });
  host_->send(control::RunEnded{inputs_.run_directory});
  console_.when_flushed([this] { host_->when_flushed([this] { leave(); }); });
}

}  // namespace forklift
