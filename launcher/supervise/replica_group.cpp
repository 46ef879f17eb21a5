#include "launcher/supervise/replica_group.hpp"

#include <fmt/format.h>

#include <boost/system/system_error.hpp>
#include <tuple>
#include <utility>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/output/prefix.hpp"
#include "launcher/system/new_process.hpp"

namespace forklift {

namespace {

constexpr auto continue_after = std::chrono::milliseconds(5);

}  // namespace

ReplicaGroup::ReplicaGroup(boost::asio::io_context& io, const RunInputs& inputs, ReplicaStarter& starter,
                           ReplicaOutput& output, Observer& observer)
    : io_(io), inputs_(inputs), starter_(starter), output_(output), observer_(observer), continue_(io) {}

void ReplicaGroup::start(const AttemptValues& values) {
  values_ = values;
  continue_.cancel();
  endings_.clear();
  endings_.reserve(inputs_.plan.replicas.size());  // Observers hold references to endings.
  starter_.start(values, *this);
}

void ReplicaGroup::replica_runs(const ReplicaPlan& replica, StartedReplica started) {
  boost::asio::posix::stream_descriptor pidfd(io_);
  boost::system::error_code refused;
  pidfd.assign(started.pidfd.get(), refused);
  if (refused) {
    end_unadopted(started.pid);
    return replica_failed_to_start(replica, {StartStep::clone, refused.value(), {}}, started.started_s);
  }
  std::ignore = started.pidfd.release();
  connect_output(replica, std::move(started.streams));
  const auto [place, inserted] =
      running_by_pid_.emplace(started.pid, Running{&replica, started.pid, std::move(pidfd), AskedToStop::no,
                                                   inputs_.clock.seconds_since_launch(), started.starter_rss_bytes});
  observer_.replica_started(replica, started.pid);
  watch(place->second);
}

void ReplicaGroup::replica_failed_to_start(const ReplicaPlan& replica, FailedToStart failure, double started_s) {
  observer_.replica_ended(record_unborn(replica, AskedToStop::no, started_s, std::move(failure)));
}

void ReplicaGroup::start_is_complete(std::span<const ReplicaPlan* const> never_started) {
  for (const ReplicaPlan* replica : never_started) {
    observer_.replica_lost(record_unborn(*replica, AskedToStop::politely, inputs_.clock.seconds_since_launch(),
                                         Lost{std::string(spared_at_start)}));
  }
  observer_.group_started(static_cast<int>(never_started.size()));
}

void ReplicaGroup::connect_output(const ReplicaPlan& replica, StreamEnds streams) {
  std::string prefix;
  if (!inputs_.plan.prefix_template.empty()) {
    prefix =
        expand_prefix(inputs_.plan.prefix_template, {replica.rank, replica.local_rank, inputs_.role, inputs_.hostname});
  }
  for (const OutputStream stream : both_streams) {
    const std::size_t i = index_of(stream);
    if (!streams.our_end[i].valid()) continue;
    output_.add({replica.rank, stream, std::move(streams.our_end[i]), route_of(replica, stream), prefix,
                 std::move(streams.copy[i]), log_path(values_, replica, stream)});
  }
}

void ReplicaGroup::watch(Running& running) {
  running.pidfd.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [this, pid = running.pid](const boost::system::error_code& error) {
                             if (!error) reap_if_replica(pid);
                           });
}

bool ReplicaGroup::reap_if_replica(pid_t pid) {
  const auto running = running_by_pid_.find(pid);
  if (running == running_by_pid_.end()) return false;
  auto reaped = reap_by_pidfd(running->second.pidfd.native_handle());
  if (reaped) {
    observer_.replica_ended(take_end(running, std::move(*reaped)));
  } else {
    watch(running->second);
  }
  return true;
}

const Ending& ReplicaGroup::take_end(std::map<pid_t, Running>::iterator running, Reaped reaped) {
  const Running ended = std::move(running->second);
  running_by_pid_.erase(running);
  return record_end(ended, std::move(reaped));
}

const Ending& ReplicaGroup::record_unborn(const ReplicaPlan& replica, AskedToStop asked, double started_s,
                                          Outcome outcome) {
  const Running never{&replica, 0, boost::asio::posix::stream_descriptor(io_), asked, started_s};
  return record_end(never, {std::move(outcome), 0, 0, 0});
}

const Ending& ReplicaGroup::record_end(const Running& ended, Reaped reaped) {
  Ending ending;
  ending.rank = ended.plan->rank;
  ending.local_rank = ended.plan->local_rank;
  ending.attempt = values_.attempt;
  ending.pid = ended.pid;
  ending.outcome = std::move(reaped.outcome);
  ending.asked = ended.asked;
  if (ended.asked == AskedToStop::no && wished_end(ending.rank, ending.outcome) != 0) {
    ending.asked = AskedToStop::politely;
  }
  ending.order = endings_of_run_++;
  ending.started_s = ended.started_s;
  ending.ended_s = inputs_.clock.seconds_since_launch();
  ending.peak_rss_bytes = own_peak(reaped, ended.starter_rss_bytes);
  ending.cpu_user_s = reaped.cpu_user_s;
  ending.cpu_system_s = reaped.cpu_system_s;
  endings_.push_back(std::move(ending));
  return endings_.back();
}

// kill(2) by pid and group is safe here: a replica that is in the map has not been reaped, so its number is still its
// own.
void ReplicaGroup::signal_each(int signal, AskedToStop mark) {
  for (auto& [pid, running] : running_by_pid_) {
    if (running.asked < mark) running.asked = mark;
    if (::kill(-pid, signal) != 0) ::kill(pid, signal);
  }
}

void ReplicaGroup::stop(int signal) {
  signal_each(signal, AskedToStop::politely);
  // Most end of the signal at once, and the second round of system calls would stand between their deaths and us.
  continue_.expires_after(continue_after);
  continue_.async_wait([this](const boost::system::error_code& error) {
    if (!error) signal_each(SIGCONT, AskedToStop::no);
  });
}

void ReplicaGroup::kill() { signal_each(SIGKILL, AskedToStop::killed); }

void ReplicaGroup::pass(int signal) {
  if (signal == SIGQUIT) quit_was_passed_ = true;
  signal_each(signal, AskedToStop::no);
}

int ReplicaGroup::wished_end(Rank rank, const Outcome& outcome) const {
  const auto* signalled = std::get_if<Signalled>(&outcome);
  if (signalled == nullptr) return 0;
  if (signalled->signal == SIGINT && inputs_.plan.interactive_rank == rank) return SIGINT;
  return signalled->signal == SIGQUIT && quit_was_passed_ ? SIGQUIT : 0;
}

void ReplicaGroup::abandon() {
  while (!running_by_pid_.empty()) {
    const auto left = running_by_pid_.begin();
    boost::system::error_code ignored;
    left->second.pidfd.cancel(ignored);
    observer_.replica_lost(take_end(left, {Lost{"did not end after SIGKILL: it is stuck in the kernel"}, 0, 0, 0}));
  }
}

std::vector<pid_t> ReplicaGroup::pids() const {
  std::vector<pid_t> pids;
  pids.reserve(running_by_pid_.size());
  for (const auto& [pid, running] : running_by_pid_) pids.push_back(pid);
  return pids;
}

pid_t ReplicaGroup::pid_of(Rank rank) const {
  for (const auto& [pid, running] : running_by_pid_) {
    if (running.plan->rank == rank) return pid;
  }
  return 0;
}

}  // namespace forklift
