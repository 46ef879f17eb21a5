#include "launcher/supervise/fork_starter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>
#include <utility>

#include "launcher/system/process_table.hpp"

namespace forklift {
namespace {

/// How soon a request is tried again that the kernel refused for the descriptors on their way.
constexpr auto crowded_wait = std::chrono::milliseconds(1);

Descriptor pidfd_of(pid_t pid) { return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

bool is_our_child(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// What sending to a process that has ended gives; the second where it had not read everything.
bool peer_has_ended(int error) { return error == EPIPE || error == ECONNRESET; }

}  // namespace

ForkStarter::ForkStarter(boost::asio::io_context& io, const RunInputs& inputs, const sigset_t& original_mask,
                         Console& console, Callbacks callbacks, std::chrono::milliseconds fork_time)
    : io_(io),
      inputs_(inputs),
      callbacks_(std::move(callbacks)),
      fork_time_(fork_time),
      template_(io, inputs, original_mask, console,
                {[this] { ask_for_group(); }, [this](control::Forked forked) { take_group(forked); },
                 [this](const Ending& ending) { template_ended(ending); }}),
      links_([this](Rank rank, Arrived arrived) { callbacks_.replica_said(rank, std::move(arrived)); }),
      deadline_(io),
      crowded_(io) {}

void ForkStarter::start(const AttemptValues& values, Client& client) {
  values_ = values;
  client_ = &client;
  wanted_ = Wanted::all;
  next_ = 0;
  untold_.clear();
  for (const ReplicaPlan& replica : inputs_.plan.replicas) untold_.insert(&replica);
  pending_.clear();
  links_.clear();
  failed_template_.reset();
  refused_.reset();
  phase_ = Phase::loading;
  if (template_.state() == TemplateProcess::State::ready) return ask_for_group();
  if (template_.alive()) return;  // Adopted: its Ready is on its way.
  auto failed = inputs_.host ? adopt_template() : template_.start(values);
  if (!failed) return callbacks_.template_runs(template_.pid());
  Ending ending;
  ending.rank = template_rank;
  ending.attempt = values.attempt;
  ending.outcome = *std::move(failed);
  template_failed(std::move(ending));
}

/// The host has forked one template, for all attempts.
std::optional<FailedToStart> ForkStarter::adopt_template() {
  const HostSeat& host = *inputs_.host;
  if (adoption_ == Adoption::done) return FailedToStart{StartStep::fork_point, ESRCH, {}};
  adoption_ = Adoption::done;
  return template_.adopt(host.template_pid, ControlSocket(Descriptor(host.template_control)));
}

void ForkStarter::cancel() {
  wanted_ = Wanted::none;
  switch (phase_) {
    case Phase::idle:
      return;
    case Phase::loading:
      // The stop ladder sees to the template's end; without one there is nothing to wait for.
      if (!template_.alive() || template_.state() == TemplateProcess::State::ready) complete();
      return;
    case Phase::forking:
      // Nobody has said Go: without their sockets the half-made replicas leave by themselves.
      pending_.clear();
      if (!template_.alive()) return complete();
      if (next_ < inputs_.plan.replicas.size()) template_.kill();  // It counts to N, and no more requests will come.
      return;
    case Phase::greeting:
      // Those that were let go are running replicas; the others leave, as above.
      return complete();
  }
}

// ---- asking -------------------------------------------------------------------------------------------------------

void ForkStarter::ask_for_group() {
  warn_of_threads();
  if (phase_ != Phase::loading) return;
  if (wanted_ == Wanted::none) return complete();
  phase_ = Phase::forking;
  template_rss_bytes_ = resident_bytes(template_.pid());
  const control::ForkGroup group{values_.attempt, static_cast<int>(inputs_.plan.replicas.size()), ::getpid(),
                                 group_environment(inputs_.plan, values_), inputs_.plan.unset};
  give_time("did not fork its replicas");
  const auto sent = template_.control().send(group);
  if (sent) return ask_for_more();
  if (peer_has_ended(sent.error().os_errno)) return;  // We hear of it.
  refuse(inputs_.plan.replicas.front(), {StartStep::prepare, sent.error().os_errno, "fork request"});
}

/// As many requests as the socket takes now. A full one is a template that has not forked so far yet.
void ForkStarter::ask_for_more() {
  if (phase_ != Phase::forking || refused_ || wanted_ == Wanted::none) return;
  const auto& replicas = inputs_.plan.replicas;
  std::optional<FailedToStart> failed;
  give_time("did not fork its replicas");
  for (; !failed && next_ < replicas.size(); ++next_) failed = ask_for(replicas[next_]);
  if (!failed) return;
  --next_;  // It is asked for again.
  if (peer_has_ended(failed->os_errno)) return;
  if (failed->os_errno == EAGAIN) return wait_until_writable();
  if (failed->os_errno == ETOOMANYREFS) return wait_until_taken();
  refuse(replicas[next_], *std::move(failed));
}

/// The template counts to N: what cannot be asked for would be waited for.
void ForkStarter::refuse(const ReplicaPlan& replica, FailedToStart failure) {
  refused_ = Refused{&replica, std::move(failure)};
  pending_.clear();
  template_.kill();
}

void ForkStarter::give_time(const char* what) {
  deadline_.expires_after(fork_time_);
  deadline_.async_wait([this, what](const boost::system::error_code& error) {
    if (error || phase_ == Phase::idle || refused_) return;
    callbacks_.note(fmt::format("the template (pid {}) {} within {} s; it is ended", template_.pid(), what,
                                std::chrono::duration<double>(fork_time_).count()));
    if (phase_ == Phase::forking) {
      return refuse(inputs_.plan.replicas.front(), {StartStep::clone, ETIMEDOUT, {}});
    }
    if (phase_ != Phase::greeting || pending_.empty()) return;
    template_.kill();
    const Attempt attempt = values_.attempt;
    reject(pending_.begin()->first, ETIMEDOUT);
    complete_unless_over(attempt);
  });
}

std::optional<FailedToStart> ForkStarter::ask_for(const ReplicaPlan& replica) {
  Pending pending{&replica, {}, {}, {}};
  pending.started.started_s = inputs_.clock.seconds_since_launch();
  if (!null_device_.valid()) null_device_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_device_.valid()) return FailedToStart{StartStep::prepare, errno, "/dev/null"};
  if (auto failed = open_stream_ends(values_, replica, pending.started.streams)) return failed;
  auto pair = ControlSocket::make_pair();
  if (!pair) return FailedToStart{StartStep::prepare, pair.error().os_errno, "control socket"};
  pending.control = std::move(pair.value().first);
  auto& ends = pending.started.streams.child_end;
  const std::array<int, 4> descriptors{
      pair.value().second.get(),
      replica.standard_input == StdinRoute::inherited ? STDIN_FILENO : null_device_.get(),
      ends[0].valid() ? ends[0].get() : STDOUT_FILENO,
      ends[1].valid() ? ends[1].get() : STDERR_FILENO,
  };
  const bool foreground = inputs_.plan.interactive_rank == replica.rank;
  const control::ForkReplica request{replica.rank, replica.local_rank, own_environment(inputs_.plan, replica, values_),
                                     replica.cpus, foreground ? control::Foreground::yes : control::Foreground::no};
  const auto sent = template_.control().send(request, descriptors, ControlSocket::Mode::non_blocking);
  if (!sent) return FailedToStart{StartStep::prepare, sent.error().os_errno, "fork request"};
  for (Descriptor& end : ends) end.close();
  pending_.emplace(replica.rank, std::move(pending));
  return std::nullopt;
}

void ForkStarter::wait_until_writable() {
  Descriptor copy(::fcntl(template_.control().get(), F_DUPFD_CLOEXEC, 3));
  writable_.emplace(io_);
  boost::system::error_code refused;
  if (copy.valid()) writable_->assign(copy.get(), refused);
  if (!copy.valid() || refused) {
    return refuse(inputs_.plan.replicas[next_], {StartStep::prepare, EMFILE, "fork request"});
  }
  std::ignore = copy.release();
  writable_->async_wait(boost::asio::posix::stream_descriptor::wait_write,
                        [this](const boost::system::error_code& error) {
                          if (!error) ask_for_more();
                        });
}

/// An ordinary user may have only so many descriptors on their way, over all processes. The template is taking ours,
/// but nothing tells when.
void ForkStarter::wait_until_taken() {
  crowded_.expires_after(crowded_wait);
  crowded_.async_wait([this](const boost::system::error_code& error) {
    if (!error) ask_for_more();
  });
}

// ---- taking -------------------------------------------------------------------------------------------------------

void ForkStarter::take_group(control::Forked forked) {
  if (phase_ != Phase::forking || forked.attempt != values_.attempt) return;
  if (wanted_ == Wanted::none) return complete();
  if (refused_) return;  // It is being ended.
  phase_ = Phase::greeting;
  give_time("forked replicas that did not speak");
  for (const ReplicaPlan& replica : inputs_.plan.replicas) {
    if (phase_ != Phase::greeting) return;  // One failed, and the policy has cancelled the others.
    if (pending_.contains(replica.rank)) {
      greet(replica.rank);
    } else {  // Not even asked for: whoever forks was killed in the middle of it.
      fail(replica, {StartStep::clone, ECONNRESET, {}});
    }
  }
  complete_if_all_taken();
}

/// The middle process is gone, so a replica that was forked is our child; its first word may still be on its way.
void ForkStarter::greet(Rank rank) {
  const auto pending = pending_.find(rank);
  if (phase_ != Phase::greeting || pending == pending_.end()) return;
  Arrived arrived;
  switch (pending->second.control.receive(arrived, ControlSocket::Mode::non_blocking)) {
    case Arrival::message:
      return take(rank, arrived);
    case Arrival::nothing:
      return wait_for_hello(rank);
    case Arrival::closed:
    case Arrival::foreign:
      return reject(rank, ECONNRESET);  // It ended before its first word, and is reaped as a stranger.
  }
}

void ForkStarter::wait_for_hello(Rank rank) {
  Pending& pending = pending_.at(rank);
  if (!pending.watch) {
    Descriptor copy(::fcntl(pending.control.get(), F_DUPFD_CLOEXEC, 3));
    boost::system::error_code refused;
    pending.watch.emplace(io_);
    if (copy.valid()) pending.watch->assign(copy.get(), refused);
    if (!copy.valid() || refused) return reject(rank, EMFILE);
    std::ignore = copy.release();
  }
  pending.watch->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [this, rank](const boost::system::error_code& error) {
                              if (error) return;
                              greet(rank);
                              complete_if_all_taken();
                            });
}

void ForkStarter::take(Rank rank, const Arrived& arrived) {
  if (const auto* failed = std::get_if<control::ForkFailed>(&arrived.message); failed != nullptr) {
    return reject(rank, failed->os_errno);
  }
  const auto* hello = std::get_if<control::Hello>(&arrived.message);
  const bool known = hello != nullptr && hello->rank == rank && arrived.sender > 0 && is_our_child(arrived.sender);
  if (!known) return reject(rank, ECHILD);
  const auto pending = pending_.find(rank);
  StartedReplica started = std::move(pending->second.started);
  started.pid = arrived.sender;
  started.pidfd = pidfd_of(arrived.sender);
  started.starter_rss_bytes = template_rss_bytes_;
  if (!started.pidfd.valid()) {
    const int error = errno;
    ::kill(arrived.sender, SIGKILL);
    return reject(rank, error);
  }
  ControlSocket control = std::move(pending->second.control);
  const ReplicaPlan& replica = *pending->second.plan;
  pending_.erase(pending);
  untold_.erase(&replica);
  client_->replica_runs(replica, std::move(started));
  std::ignore = control.send(control::Go{::getpid()}, {}, ControlSocket::Mode::non_blocking);
  links_.add(rank, std::move(control));
}

void ForkStarter::reject(Rank rank, int error) {
  const ReplicaPlan& replica = *pending_.at(rank).plan;
  pending_.erase(rank);
  fail(replica, {StartStep::clone, error, {}});
}

// What follows a failure may be the end of this start, and the beginning of the next.
void ForkStarter::fail(const ReplicaPlan& replica, FailedToStart failure) {
  untold_.erase(&replica);
  client_->replica_failed_to_start(replica, std::move(failure), inputs_.clock.seconds_since_launch());
}

void ForkStarter::complete_if_all_taken() {
  if (phase_ == Phase::greeting && pending_.empty()) complete();
}

void ForkStarter::complete() {
  if (phase_ == Phase::idle) return;
  phase_ = Phase::idle;
  deadline_.cancel();
  crowded_.cancel();
  writable_.reset();
  pending_.clear();
  const std::vector<const ReplicaPlan*> never_started(untold_.begin(), untold_.end());
  untold_.clear();
  client_->start_is_complete(never_started);
  callbacks_.forked();
}

void ForkStarter::complete_unless_over(Attempt attempt) {
  if (values_.attempt == attempt) complete();
}

// ---- the template -------------------------------------------------------------------------------------------------

void ForkStarter::warn_of_threads() {
  const std::set<std::string> names(template_.threads().begin(), template_.threads().end());
  if (names.empty()) return;
  callbacks_.note(fmt::format(
      "warning: the template has {} thread{} beside the one that forks ({}): the replicas do not have them, "
      "and a lock that one of them holds stays locked",
      template_.threads().size(), template_.threads().size() == 1 ? "" : "s", fmt::join(names, ", ")));
}

void ForkStarter::template_ended(const Ending& ending) {
  callbacks_.template_runs(0);
  if (phase_ == Phase::forking && refused_) {
    const Attempt attempt = values_.attempt;
    fail(*refused_->replica, refused_->failure);
    return complete_unless_over(attempt);
  }
  if (phase_ == Phase::loading || phase_ == Phase::forking) return template_failed(ending);
  callbacks_.note("the template has ended while its replicas run; a restart would load it again");
}

void ForkStarter::template_failed(Ending ending) {
  pending_.clear();
  failed_template_ = std::move(ending);
  const Attempt attempt = values_.attempt;
  callbacks_.template_failed(*failed_template_);
  complete_unless_over(attempt);
}

void ForkStarter::stop(int signal) {
  if (phase_ == Phase::loading) template_.stop(signal);
}

void ForkStarter::kill() {
  if (phase_ != Phase::idle) template_.kill();
}

void ForkStarter::abandon() { complete(); }

void ForkStarter::close() {
  links_.clear();
  pending_.clear();
  deadline_.cancel();
  crowded_.cancel();
  writable_.reset();
  template_.kill();
  template_.close();
}

}  // namespace forklift
