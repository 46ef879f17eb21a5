// The replicas of one attempt as processes: signalled, watched, reaped; a ReplicaStarter brings them into being. Does
// what the policy says and decides nothing.
//
// One thread, one io_context. Every started replica is reported to `Observer::replica_ended` exactly once, in the order
// in which the kernel ended them (their pidfds become readable in that order).
#pragma once

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forklift/outcome.hpp"
#include "forklift/plan.hpp"
#include "launcher/supervise/replica_output.hpp"
#include "launcher/supervise/replica_starter.hpp"
#include "launcher/supervise/run_inputs.hpp"
#include "launcher/system/reap.hpp"

namespace forklift {

class ReplicaGroup final : private ReplicaStarter::Client {
 public:
  /// Called from the loop. Must outlive the group.
  class Observer {
   public:
    virtual void replica_started(const ReplicaPlan& replica, int pid) = 0;
    virtual void replica_ended(const Ending& ending) = 0;
    /// No end of it will ever be seen, since it was never started or outlived SIGKILL; `ending` is Lost.
    virtual void replica_lost(const Ending& ending) = 0;
    /// `never_started` of the replicas were spared.
    virtual void group_started(int never_started) = 0;

   protected:
    ~Observer() = default;
  };

  ReplicaGroup(boost::asio::io_context& io, const RunInputs& inputs, ReplicaStarter& starter, ReplicaOutput& output,
               Observer& observer);

  void start(const AttemptValues& values);
  /// The replicas not started yet never are; group_started() still follows.
  void cancel_start() { starter_.cancel(); }

  /// To the group of every running replica. Those that are still there a moment later are sent SIGCONT: a stopped
  /// replica would never see the signal.
  void stop(int signal);
  void kill();
  void pass(int signal);
  /// Gives up on those that are still there: each ends as Lost.
  void abandon();

  /// The signal by which the user, past our stop ladder, ended a replica on purpose: Ctrl-C typed to the one that has
  /// the terminal, or a SIGQUIT that we only passed on. 0: none.
  [[nodiscard]] int wished_end(Rank rank, const Outcome& outcome) const;

  /// SIGCHLD came: if `pid` is a replica, takes its end now and returns true.
  bool reap_if_replica(pid_t pid);

  [[nodiscard]] bool is_replica(pid_t pid) const { return running_by_pid_.contains(pid); }
  [[nodiscard]] int running() const { return static_cast<int>(running_by_pid_.size()); }
  /// The processes of the replicas that run.
  [[nodiscard]] std::vector<pid_t> pids() const;
  /// The process of a replica that runs; 0 otherwise.
  [[nodiscard]] pid_t pid_of(Rank rank) const;
  /// Endings of this attempt so far, in order, without the output tails.
  [[nodiscard]] const std::vector<Ending>& endings() const { return endings_; }
  [[nodiscard]] const AttemptValues& attempt() const { return values_; }

 private:
  struct Running {
    const ReplicaPlan* plan;
    pid_t pid;
    boost::asio::posix::stream_descriptor pidfd;
    AskedToStop asked = AskedToStop::no;
    double started_s = 0;
    std::uint64_t starter_rss_bytes = 0;
  };

  // ReplicaStarter::Client
  void replica_runs(const ReplicaPlan& replica, StartedReplica started) override;
  void replica_failed_to_start(const ReplicaPlan& replica, FailedToStart failure, double started_s) override;
  void start_is_complete(std::span<const ReplicaPlan* const> never_started) override;

  void connect_output(const ReplicaPlan& replica, StreamEnds streams);
  void watch(Running& running);
  const Ending& take_end(std::map<pid_t, Running>::iterator running, Reaped reaped);
  const Ending& record_end(const Running& ended, Reaped reaped);
  const Ending& record_unborn(const ReplicaPlan& replica, AskedToStop asked, double started_s, Outcome outcome);
  void signal_each(int signal, AskedToStop mark);
  boost::asio::io_context& io_;
  const RunInputs& inputs_;
  ReplicaStarter& starter_;
  ReplicaOutput& output_;
  Observer& observer_;

  AttemptValues values_;
  bool quit_was_passed_ = false;
  std::uint64_t endings_of_run_ = 0;
  std::map<pid_t, Running> running_by_pid_;
  std::vector<Ending> endings_;
  boost::asio::steady_timer continue_;  ///< Until those that may be stopped are continued.
};

}  // namespace forklift
