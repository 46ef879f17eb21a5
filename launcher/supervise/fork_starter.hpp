// Starts replicas by forking them from a template: asks the template, learns from each replica who it is, and lets it
// go once it is known as our child.
//
//   start ─► template loading ─Ready─► forking ─Forked─► greeting ─every Hello taken, Go sent─► complete
//
// One thread, one io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "launcher/supervise/replica_links.hpp"
#include "launcher/supervise/replica_starter.hpp"
#include "launcher/supervise/run_inputs.hpp"
#include "launcher/supervise/template_process.hpp"

namespace forklift {

class ForkStarter final : public ReplicaStarter {
 public:
  struct Callbacks {
    /// The template runs; or, with 0, has ended. Its children belong to no attempt.
    std::function<void(pid_t)> template_runs;
    /// The template ended before it could fork the replicas of the attempt. Without a process: it failed to start.
    std::function<void(const Ending&)> template_failed;
    /// One sentence for the user.
    std::function<void(const std::string&)> note;
    /// A replica said something on its socket, with descriptors.
    std::function<void(Rank, Arrived)> replica_said;
    /// Children that ended while a fork was under way may now be reaped.
    std::function<void()> forked;
  };

  /// `fork_time`: for the template's answer, from the last request; and for the first word of all that it has forked.
  ForkStarter(boost::asio::io_context& io, const RunInputs& inputs, const sigset_t& original_mask, Console& console,
              Callbacks callbacks, std::chrono::milliseconds fork_time = std::chrono::seconds(30));

  void start(const AttemptValues& values, Client& client) override;
  void cancel() override;

  /// While the template is still loading it takes part in the stop ladder as a replica would.
  void stop(int signal);
  void kill();
  void abandon();

  /// Between the first request and the last Go, children of ours that nobody knows may be replicas.
  [[nodiscard]] bool forking() const { return phase_ == Phase::forking || phase_ == Phase::greeting; }
  [[nodiscard]] TemplateProcess& process() { return template_; }
  [[nodiscard]] const TemplateProcess& process() const { return template_; }
  /// A replica has ended: what it said is told now.
  void replica_ended(Rank rank) { links_.finish(rank); }
  /// How the template ended, if that kept this attempt from starting.
  [[nodiscard]] const std::optional<Ending>& failed_template() const { return failed_template_; }
  /// Ends the template and everything that it started: the run is over.
  void close();

 private:
  enum class Phase { idle, loading, forking, greeting };
  struct Pending {
    const ReplicaPlan* plan;
    StartedReplica started;
    ControlSocket control;
    std::optional<boost::asio::posix::stream_descriptor> watch;  ///< While its Hello is awaited.
  };
  /// Why the group cannot be asked for, as the failure of one replica.
  struct Refused {
    const ReplicaPlan* replica;
    FailedToStart failure;
  };

  std::optional<FailedToStart> adopt_template();
  void ask_for_group();
  void ask_for_more();
  void wait_until_writable();
  void wait_until_taken();
  std::optional<FailedToStart> ask_for(const ReplicaPlan& replica);
  void refuse(const ReplicaPlan& replica, FailedToStart failure);
  void give_time(const char* what);

  void take_group(control::Forked forked);
  void greet(Rank rank);
  void wait_for_hello(Rank rank);
  void take(Rank rank, const Arrived& arrived);
  void reject(Rank rank, int error);
  void fail(const ReplicaPlan& replica, FailedToStart failure);

  void complete();
  void complete_if_all_taken();
  /// Unless the policy, told of a failure of this attempt, has cancelled its start, and perhaps begun the next one.
  void complete_unless_over(Attempt attempt);

  void template_ended(const Ending& ending);
  void template_failed(Ending ending);
  void warn_of_threads();

  boost::asio::io_context& io_;
  const RunInputs& inputs_;
  Callbacks callbacks_;
  const std::chrono::milliseconds fork_time_;
  TemplateProcess template_;
  ReplicaLinks links_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer crowded_;
  std::optional<boost::asio::posix::stream_descriptor> writable_;
  Client* client_ = nullptr;
  AttemptValues values_;
  Phase phase_ = Phase::idle;
  enum class Wanted { all, none } wanted_ = Wanted::all;
  std::size_t next_ = 0;
  enum class Adoption { open, done } adoption_ = Adoption::open;
  std::uint64_t template_rss_bytes_ = 0;  ///< At the fork; a replica's peak begins there.
  std::map<Rank, Pending> pending_;       ///< Asked for, and not known yet.
  std::set<const ReplicaPlan*> untold_;   ///< The client has not heard of them in this attempt.
  std::optional<Refused> refused_;        ///< The template is being ended for it.
  std::optional<Ending> failed_template_;
  Descriptor null_device_;
};

}  // namespace forklift
