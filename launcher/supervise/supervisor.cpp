#include "launcher/supervise/supervisor.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <cstdio>
#include <utility>

#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/limits.hpp"
#include "launcher/system/ports.hpp"

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

ConsoleSettings console_settings(const RunInputs& inputs) {
  ConsoleSettings settings;
  settings.colour = inputs.colour;
  // The interactive replica draws on the same terminal: nothing of ours may move its cursor.
  if (inputs.plan.interactive_rank) settings.terminal_progress = ProgressStyle::last_only;
  return settings;
}

}  // namespace

Supervisor::Supervisor(const RunInputs& inputs, SupervisorSeat seat)
    : inputs_(inputs),
      console_(io_, console_settings(inputs)),
      output_(io_, console_),
      group_(io_, inputs, seat.original_mask, output_, *this),
      events_(io_, inputs.run_directory),
      guard_(io_, std::move(seat.guard),
             {[this](GuardMessage message) { guard_said(message); }, [this] { handle(policy::GuardLost{}); }}),
      children_(io_, [this] { children_changed(); }),
      timer_(io_),
      machine_(rules_of(inputs.plan)) {}

int Supervisor::run() {
  RunEvent started = RunEvent::of(RunEventKind::run_started);
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
  RunEvent requested = RunEvent::of(RunEventKind::stop_requested);
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
    RunEvent reaped = RunEvent::of(RunEventKind::stranger_reaped);
    reaped.pid = pid;
    events_.add(std::move(reaped));
  }
  if (inputs_.plan.interactive_rank) {
    const pid_t interactive = group_.pid_of(*inputs_.plan.interactive_rank);
    if (interactive != 0 && stopped_by(interactive) != 0) {
      handle(policy::SignalReceived{SIGTSTP});  // The terminal stopped only the replica in its foreground.
      guard_.send({GuardMessage::Kind::stop_yourself, 0});
    }
  }
  if (sweeping_) {
    // What was to be killed may have forked in the meantime: the same sweep again counts and kills.
    const auto how = *sweeping_ == policy::SweepHow::kill ? policy::SweepHow::kill : policy::SweepHow::look;
    handle(policy::DescendantsLeft{descendants_.sweep(how)});
  }
}

void Supervisor::replica_started(const ReplicaPlan& replica, int pid) {
  RunEvent started = RunEvent::of(RunEventKind::replica_started);
  started.attempt = attempt_.attempt;
  started.rank = replica.rank;
  started.local_rank = replica.local_rank;
  started.pid = pid;
  events_.add(std::move(started));
}

void Supervisor::log_end(const Ending& ending) {
  RunEvent ended = RunEvent::of(RunEventKind::replica_exited);
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
  if (const int signal = group_.wished_end(ending.rank, ending.outcome); signal != 0) {
    handle(policy::StopRequested{signal, policy::Asker::terminal});
  }
  handle(policy::ReplicaEnded{ending.rank, ending.outcome});
  if (succeeded(ending.outcome)) note_rendezvous_use();  // Takes milliseconds, so not where others wait to be stopped.
}

void Supervisor::group_started() { handle(policy::GroupStarted{attempt_.attempt}); }

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

void Supervisor::leave() {
  guard_.close();
  children_.close();
  output_.close_all();
  io_.stop();
}

int supervise(const RunInputs& inputs, SupervisorSeat seat) {
  try {
    // Never destroyed: the process ends as soon as this returns, and the kernel frees it all in one go.
    return (new Supervisor(inputs, std::move(seat)))->run();
  } catch (const boost::system::system_error& refused) {
    std::fprintf(stderr, "forklift: cannot supervise the job: %s\n", explain_refusal(refused.code().value()).c_str());
    return exit_status_of(ErrorKind::system);
  }
}

}  // namespace forklift
