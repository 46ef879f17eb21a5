#include "launcher/supervise/supervisor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/system/system_error.hpp>
#include <cstdio>
#include <utility>

#include "launcher/diagnose/diagnose.hpp"
#include "launcher/output/tail.hpp"
#include "launcher/report/report_format.hpp"
#include "launcher/report/summarize.hpp"
#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/ports.hpp"
#include "launcher/system/run_directory.hpp"
#include "launcher/system/termination_log.hpp"

namespace forklift {
namespace {

/// So many ends of replicas are used to ask whether anybody ever connected to the rendezvous port.
constexpr int rendezvous_looks = 3;

policy::GroupRules rules_of(const Plan& plan) {
  policy::GroupRules rules;
  rules.replicas = static_cast<int>(plan.replicas.size());
  rules.nodes = plan.num_nodes;
  rules.stop = plan.stop;
  rules.restart = plan.restart;
  rules.time = plan.time;
  rules.ports = policy::PortChoice::given;
  for (const PortPlan& port : plan.ports) {
    if (port.port == 0) rules.ports = policy::PortChoice::found;
  }
  return rules;
}

RunEvent event_of(RunEventKind kind) {
  RunEvent event;
  event.kind = kind;
  return event;
}

}  // namespace

Supervisor::Supervisor(const RunInputs& inputs, SupervisorSeat seat)
    : inputs_(inputs),
      console_(io_, {.colour = inputs.colour}),
      output_(io_, console_),
      group_(io_, inputs, seat.original_mask, output_, *this),
      events_(io_, inputs.run_directory),
      guard_(io_, std::move(seat.guard),
             {[this](GuardMessage message) { guard_said(message); }, [this] { handle(policy::GuardLost{}); }}),
      children_(io_, [this] { children_changed(); }),
      timer_(io_),
      machine_(rules_of(inputs.plan)) {}

int Supervisor::run() {
  RunEvent started = event_of(RunEventKind::run_started);
  started.run_id = inputs_.plan.run_id;
  started.command = inputs_.command;
  started.world_size = inputs_.plan.world_size;
  events_.add(std::move(started));
  if (oom_kills_whole_group()) {
    say("warning: memory.oom.group is set here: if the kernel runs out of memory it ends forklift with the job, and "
        "nobody "
        "can say why");
  }
  handle(policy::Begin{});
  io_.run();
  return exit_status_;
}

// ---- events in ----------------------------------------------------------------------------------------------------

void Supervisor::handle(policy::Event event) {
  queue_.push_back(std::move(event));
  if (pump_ == Pump::running) return;  // An action gave rise to this event: its turn comes.
  pump_ = Pump::running;
  while (!queue_.empty()) {
    const policy::Event next = std::move(queue_.front());
    queue_.pop_front();
    for (const policy::Action& action : machine_.step(next, inputs_.clock.since_launch())) {
      std::visit([this](const auto& each) { perform(each); }, action);
    }
  }
  pump_ = Pump::idle;
  arm_timer();
}

void Supervisor::arm_timer() {
  const auto deadline = phase_ == Phase::leaving ? std::nullopt : machine_.next_deadline();
  if (deadline == armed_for_) return;
  armed_for_ = deadline;
  timer_.cancel();
  if (!deadline) return;
  timer_.expires_at(inputs_.clock.at(*deadline));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    armed_for_.reset();
    handle(policy::Tick{});
  });
}

void Supervisor::guard_said(GuardMessage message) {
  if (message.kind == GuardMessage::Kind::resumed) {
    give_terminal_to_replica();
    return;
  }
  const int signal = message.number;
  // SIGQUIT is passed on like SIGUSR1: programs use it to dump their stacks, and live on.
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP) {
    handle(policy::SignalReceived{signal});
    return;
  }
  RunEvent requested = event_of(RunEventKind::stop_requested);
  requested.signal = signal;
  events_.add(std::move(requested));
  if (phase_ == Phase::leaving) {
    // The job is over; only a reader that does not read keeps us.
    console_.abandon();
    leave();
    return;
  }
  const bool typed = message.kind == GuardMessage::Kind::terminal_key;
  handle(policy::StopRequested{signal, typed ? policy::Asker::terminal : policy::Asker::outside});
}

void Supervisor::children_changed() {
  for (const int pid : descendants_.reap_strangers([this](pid_t ended) { return group_.reap_if_replica(ended); })) {
    RunEvent reaped = event_of(RunEventKind::stranger_reaped);
    reaped.pid = pid;
    events_.add(std::move(reaped));
  }
  if (inputs_.plan.interactive_rank) {
    const pid_t interactive = group_.pid_of(*inputs_.plan.interactive_rank);
    if (interactive != 0 && stopped_by(interactive) != 0) guard_.send({GuardMessage::Kind::stop_yourself, 0});
  }
  if (sweeping_) {
    // What was to be killed may have forked in the meantime: the same sweep again counts and kills.
    const auto how = *sweeping_ == policy::SweepHow::kill ? policy::SweepHow::kill : policy::SweepHow::look;
    handle(policy::DescendantsLeft{descendants_.sweep(how)});
  }
}

void Supervisor::replica_started(const ReplicaPlan& replica, int pid) {
  RunEvent started = event_of(RunEventKind::replica_started);
  started.attempt = attempt_.attempt;
  started.rank = replica.rank;
  started.local_rank = replica.local_rank;
  started.pid = pid;
  events_.add(std::move(started));
}

void Supervisor::log_end(const Ending& ending) {
  RunEvent ended = event_of(RunEventKind::replica_exited);
  ended.attempt = ending.attempt;
  ended.rank = ending.rank;
  ended.local_rank = ending.local_rank;
  ended.pid = ending.pid;
  ended.outcome = ending.outcome;
  ended.asked = ending.asked;
  events_.add(std::move(ended));
}

void Supervisor::replica_abandoned(const Ending& ending) { log_end(ending); }

void Supervisor::replica_ended(const Ending& ending) {
  log_end(ending);
  if (!succeeded(ending.outcome) && !evidence_.shared_memory) evidence_.shared_memory = read_shared_memory();
  note_rendezvous_use();
  if (const int signal = group_.wished_end(ending.rank, ending.outcome); signal != 0) {
    handle(policy::StopRequested{signal, policy::Asker::terminal});
  }
  handle(policy::ReplicaEnded{ending.rank, ending.outcome});
}

void Supervisor::group_started() { handle(policy::GroupStarted{attempt_.attempt}); }

// ---- actions out --------------------------------------------------------------------------------------------------

void Supervisor::perform(const policy::ReservePorts& action) {
  if (action.attempt.value > 0) announce_restart(action.attempt);
  attempt_ = AttemptValues{action.attempt, inputs_.run_directory, {}};
  const auto& ports = inputs_.plan.ports;
  int wanted = 0;
  for (const PortPlan& port : ports) wanted += port.port == 0 ? 1 : 0;
  auto found = find_free_ports(wanted);
  if (!found) {
    notes_.push_back(found.error().message);
    say(found.error().message);
    handle(policy::LauncherFailed{});
    return;
  }
  auto next = found.value().begin();
  for (const PortPlan& port : ports) attempt_.ports.push_back(port.port == 0 ? *next++ : port.port);
  handle(policy::PortsReserved{action.attempt});
}

void Supervisor::perform(const policy::StartGroup& action) {
  RunEvent started = event_of(RunEventKind::attempt_started);
  started.attempt = action.attempt;
  events_.add(std::move(started));
  evidence_ = AttemptEvidence{};
  evidence_.oom_before = read_oom_counters();
  rendezvous_ = Rendezvous::unknown;
  rendezvous_looks_ = 0;
  sweeping_.reset();
  group_.start(attempt_);
}

void Supervisor::perform(const policy::CancelStart&) { group_.cancel_start(); }

void Supervisor::perform(const policy::StopReplicas& action) {
  RunEvent sent = event_of(RunEventKind::signal_sent);
  sent.signal = action.signal;
  events_.add(std::move(sent));
  group_.stop(action.signal);
}

void Supervisor::perform(const policy::KillReplicas&) {
  RunEvent sent = event_of(RunEventKind::signal_sent);
  sent.signal = SIGKILL;
  events_.add(std::move(sent));
  group_.kill();
}

void Supervisor::perform(const policy::PassSignal& action) { group_.pass(action.signal); }

void Supervisor::perform(const policy::AbandonReplicas&) {
  for (Leftover& leftover : descendants_.name()) {
    if (!group_.is_replica(leftover.pid)) continue;
    leftover.what = "a replica that did not end after SIGKILL: stuck in the kernel";
    leftovers_.push_back(std::move(leftover));
  }
  group_.abandon();
}

void Supervisor::perform(const policy::SweepDescendants& action) {
  sweeping_ = action.how;
  handle(policy::DescendantsLeft{descendants_.sweep(action.how)});
}

void Supervisor::perform(const policy::NameLeftovers&) {
  for (Leftover& leftover : descendants_.name()) leftovers_.push_back(std::move(leftover));
}

void Supervisor::perform(const policy::DiagnoseAttempt& action) {
  sweeping_.reset();
  output_.drain();
  const auto endings = endings_with_output();
  auto cause = diagnose(inputs_.plan, endings, gather_evidence());
  std::optional<Category> category;
  if (cause) category = cause->diagnosis.category;
  attempts_.push_back({action.attempt, std::move(cause)});
  RunEvent ended = event_of(RunEventKind::attempt_ended);
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
  facts.endings = endings_with_output();
  facts.attempts = attempts_;
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
  publish(summarize(inputs_.plan, std::move(facts)));
}

// ---- the rest -----------------------------------------------------------------------------------------------------

void Supervisor::give_terminal_to_replica() {
  if (!inputs_.plan.interactive_rank) return;
  if (const pid_t pid = group_.pid_of(*inputs_.plan.interactive_rank); pid != 0) ::tcsetpgrp(STDIN_FILENO, pid);
}

// "N replicas ran alone" is the commonest silent mistake: N processes that each believe to be rank 0 of 1.
void Supervisor::note_rendezvous_use() {
  const Plan& plan = inputs_.plan;
  if (rendezvous_ == Rendezvous::used || rendezvous_looks_ >= rendezvous_looks || plan.num_nodes > 1 ||
      plan.program_kind != ProgramKind::python || attempt_.ports.empty()) {
    return;
  }
  ++rendezvous_looks_;
  if (port_was_connected(attempt_.ports.front())) rendezvous_ = Rendezvous::used;
}

void Supervisor::say(const std::string& sentence) {
  if (inputs_.chatter == Chatter::quiet) return;
  console_.write(OutputStream::standard_error, "forklift: " + sentence + "\n");
}

void Supervisor::announce_restart(Attempt attempt) {
  const auto& cause = attempts_.back().root_cause;
  say(fmt::format("attempt {} failed{} Starting all replicas again (restart {}).", attempts_.back().attempt.value,
                  cause ? ": " + cause->diagnosis.summary : ".", attempt.value));
}

std::vector<Ending> Supervisor::endings_with_output() const {
  std::vector<Ending> endings = group_.endings();
  for (Ending& ending : endings) {
    ending.stdout_tail = output_.tail(ending.rank, OutputStream::standard_output);
    ending.stderr_tail = output_.tail(ending.rank, OutputStream::standard_error);
    const ReplicaPlan& replica = inputs_.plan.replicas[ending.local_rank.index()];
    if (replica.standard_error == StreamRoute::file) {
      ending.stderr_tail =
          read_file_tail(group_.log_path(replica, OutputStream::standard_error), Tail::traceback_bytes);
    }
    if (replica.standard_output == StreamRoute::file) {
      ending.stdout_tail = read_file_tail(group_.log_path(replica, OutputStream::standard_output), Tail::usual_bytes);
    }
  }
  return endings;
}

AttemptEvidence Supervisor::gather_evidence() const {
  AttemptEvidence evidence = evidence_;
  evidence.oom_after = read_oom_counters();
  evidence.memory_limit_bytes = read_memory_limit();
  evidence.memory_total_bytes = read_memory_total();
  for (const Ending& ending : group_.endings()) {
    if (succeeded(ending.outcome)) continue;
    const std::string path =
        fmt::format("{}/errors/{}-{}.json", inputs_.run_directory, attempt_.attempt.value, ending.rank.value);
    if (auto text = read_file(path)) evidence.error_files[ending.rank] = std::move(*text);
  }
  for (std::size_t i = 0; i < attempt_.ports.size() && !evidence.port_holder; ++i) {
    evidence.port_holder = holder_of_port(attempt_.ports[i]);
  }
  return evidence;
}

void Supervisor::publish(const RunReport& report) {
  exit_status_ = report.exit_status;
  RunEvent ended = event_of(RunEventKind::run_ended);
  ended.exit_status = report.exit_status;
  events_.add(std::move(ended));
  events_.flush();
  const auto written = write_file(inputs_.run_directory + "/report.json", json_report(report));
  const TextStyle style = console_.coloured(OutputStream::standard_error) ? TextStyle::coloured : TextStyle::plain;
  const std::string text = text_report(report, style);
  if (!text.empty()) console_.write(OutputStream::standard_error, text);
  if (!written) say(written.error().message);
  if (report.result != RunResult::succeeded) write_termination_log(text_report(report, TextStyle::plain));
  // A shell script stops at Ctrl-C only if the program it ran has died of it.
  if (report.stop_signal == SIGINT) guard_.send({GuardMessage::Kind::die_of_signal, SIGINT});
  phase_ = Phase::leaving;
  timer_.cancel();
  console_.when_flushed([this] { leave(); });
}

void Supervisor::leave() {
  guard_.close();
  children_.close();
  output_.close_all();
  io_.stop();
}

int supervise(const RunInputs& inputs, SupervisorSeat seat) {
  try {
    Supervisor supervisor(inputs, std::move(seat));
    return supervisor.run();
  } catch (const boost::system::system_error& refused) {
    std::fprintf(stderr, "forklift: cannot supervise the job: %s\n", refused.what());
    return exit_status_of(ErrorKind::system);
  }
}

}  // namespace forklift
