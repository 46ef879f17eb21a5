#include "launcher/supervise/supervisor.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "launcher/system/limits.hpp"
#include "launcher/system/ports.hpp"
#include "launcher/system/proportional_memory.hpp"

namespace forklift {
namespace {

/// The heap grows by so much at once: each step is a system call, and the end of a run takes many small ones.
constexpr int heap_step = 512 << 10;

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
      spawn_starter_(inputs.plan.start_method == StartMethod::spawn
                         ? std::make_unique<SpawnStarter>(io_, inputs, seat.original_mask)
                         : nullptr),
      fork_starter_(spawn_starter_ ? nullptr : make_fork_starter(seat.original_mask)),
      group_(io_, inputs, spawn_starter_ ? static_cast<ReplicaStarter&>(*spawn_starter_) : *fork_starter_, output_,
             *this),
      events_(io_, inputs.run_directory),
      guard_(io_, std::move(seat.guard),
             {[this](GuardMessage message) { guard_said(message); }, [this] { lose(EndedBy::launcher); }}),
      children_(io_, [this] { children_changed(); }),
      timer_(io_),
      patience_(io_),
      memory_(io_, inputs.plan, group_, [this](const std::string& sentence) { say("warning: " + sentence); }),
      machine_(rules_of(inputs.plan)) {
  spare_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!spare_.valid()) throw boost::system::system_error(errno, boost::system::system_category(), "/dev/null");
  if (!inputs.host) return;
  // To its user the host is the terminal: a second interrupt means now.
  host_ = std::make_unique<HostLink>(
      io_, Descriptor(inputs.host->socket),
      HostLink::Callbacks{[this](control::HostStop stop) { request_stop(stop.signal, policy::Asker::terminal); },
                          [this] { lose(EndedBy::host); }});
}

int Supervisor::run() {
  RunEvent started = RunEvent::of(RunEventKind::run_started);
  started.run_id = inputs_.plan.run_id;
  started.command = inputs_.command;
  started.world_size = inputs_.plan.world_size;
  events_.add(std::move(started));
  if (oom_kills_whole_group(memory_cgroup_)) {
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
  request_stop(signal,
               message.kind == GuardMessage::Kind::terminal_key ? policy::Asker::terminal : policy::Asker::outside);
}

void Supervisor::lose(EndedBy side) {
  if (lost_ == EndedBy::nobody) lost_ = side;
  handle(policy::GuardLost{});
}

void Supervisor::request_stop(int signal, policy::Asker asker) {
  RunEvent requested = RunEvent::of(RunEventKind::stop_requested);
  requested.signal = signal;
  events_.add(std::move(requested));
  if (phase_ == Phase::leaving) {
    // The job is over; only a reader that does not read keeps us.
    console_.abandon();
    leave();
    return;
  }
  handle(policy::StopRequested{signal, asker});
}

void Supervisor::children_changed() {
  if (fork_starter_ && fork_starter_->forking()) return;  // An unknown child may be a replica; we are called again.
  const auto take = [this](pid_t ended) {
    return group_.reap_if_replica(ended) || (fork_starter_ && fork_starter_->process().reap_if_template(ended));
  };
  for (const int pid : descendants_.reap_strangers(take)) {
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

void Supervisor::replica_lost(const Ending& ending) { log_end(ending); }

void Supervisor::replica_ended(const Ending& ending) {
  log_end(ending);
  if (fork_starter_) fork_starter_->replica_ended(ending.rank);
  measure_sharing();
  if (!succeeded(ending.outcome) && !evidence_.shared_memory) evidence_.shared_memory = read_shared_memory();
  if (const int signal = group_.wished_end(ending.rank, ending.outcome); signal != 0) {
    handle(policy::StopRequested{signal, policy::Asker::terminal});
  }
  handle(policy::ReplicaEnded{ending.rank, ending.outcome});
  if (succeeded(ending.outcome)) note_rendezvous_use();  // Takes milliseconds, so not where others wait to be stopped.
}

std::unique_ptr<ForkStarter> Supervisor::make_fork_starter(const sigset_t& original_mask) {
  return std::make_unique<ForkStarter>(
      io_, inputs_, original_mask, console_,
      ForkStarter::Callbacks{[this](pid_t pid) { template_runs(pid); },
                             [this](const Ending& ending) { template_failed(ending); },
                             [this](const std::string& sentence) { say(sentence); },
                             [this](Rank rank, Arrived arrived) { replica_said(rank, std::move(arrived)); },
                             [this] { boost::asio::post(io_, [this] { children_changed(); }); }});
}

void Supervisor::template_runs(pid_t pid) {
  descendants_.spare(pid);
  RunEvent event = RunEvent::of(pid == 0 ? RunEventKind::template_ended : RunEventKind::template_started);
  event.attempt = attempt_.attempt;
  event.pid = pid == 0 ? fork_starter_->process().ending().pid : pid;
  if (pid == 0) event.outcome = fork_starter_->process().ending().outcome;
  events_.add(std::move(event));
}

// What a replica's function has returned is the host program's affair.
void Supervisor::replica_said(Rank rank, Arrived arrived) {
  auto* returned = std::get_if<control::Returned>(&arrived.message);
  if (returned == nullptr || !host_) return;
  returned->rank = rank;  // Whoever it claims to be.
  returned->attempt = attempt_.attempt;
  host_->send(*returned, std::move(arrived.descriptors));
}

void Supervisor::template_failed(const Ending& ending) { handle(policy::TemplateEnded{ending.outcome}); }

void Supervisor::group_started(int never_started) {
  memory_.begin();
  handle(policy::GroupStarted{attempt_.attempt, never_started});
}

// ---- the rest -----------------------------------------------------------------------------------------------------

void Supervisor::give_terminal_to_replica() {
  if (!inputs_.plan.interactive_rank) return;
  if (const pid_t pid = group_.pid_of(*inputs_.plan.interactive_rank); pid != 0) ::tcsetpgrp(STDIN_FILENO, pid);
}

// Once an attempt, when the first replica has ended: the others have done their work by then. Not where a death has
// to be answered at once: it takes milliseconds.
void Supervisor::measure_sharing() {
  if (!inputs_.model || sharing_ || group_.running() == 0 || !succeeded(group_.endings().back().outcome)) return;
  sharing_.emplace();
  for (const ReplicaPlan& replica : inputs_.plan.replicas) {
    const pid_t pid = group_.pid_of(replica.rank);
    const auto pss = pid == 0 ? std::nullopt : proportional_bytes(pid);
    if (!pss) continue;
    sharing_->pss_bytes += *pss;
    ++sharing_->replicas;
  }
}

std::optional<ModelReport> Supervisor::model_report() const {
  if (!inputs_.model) return std::nullopt;
  const ModelHandle& model = *inputs_.model;
  ModelReport report{model.path(),
                     model.bytes(),
                     model.tensor_count(),
                     model.tied_groups().size(),
                     std::string(model.mapped_by()),
                     std::nullopt,
                     0};
  if (sharing_ && sharing_->replicas > 0) {
    report.pss_bytes = sharing_->pss_bytes;
    report.pss_replicas = sharing_->replicas;
  }
  return report;
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
  if (host_) host_->close();
  children_.close();
  output_.close_all();
  if (fork_starter_) fork_starter_->close();
  io_.stop();
}

int supervise(const RunInputs& inputs, SupervisorSeat seat) {
  ::mallopt(M_TOP_PAD, heap_step);
  try {
    // Never destroyed: the process ends as soon as this returns, and the kernel frees it all in one go.
    return (new Supervisor(inputs, std::move(seat)))->run();
  } catch (const boost::system::system_error& refused) {
    std::fprintf(stderr, "forklift: cannot supervise the job: %s\n", explain_refusal(refused.code().value()).c_str());
    return exit_status_of(ErrorKind::system);
  }
}

}  // namespace forklift
