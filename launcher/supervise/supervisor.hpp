// The supervisor: the process that runs the event loop and is the parent of all replicas.
//
// Events of the machine (a replica ended, the guard says SIGTERM, a deadline passed) go into the policy, and what it
// answers is done here. Nothing is decided here. One thread, one io_context; an idle job wakes it only for the looks at
// its memory in its first seconds (memory_sampler.hpp).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "forklift/report.hpp"
#include "launcher/diagnose/evidence.hpp"
#include "launcher/policy/group_machine.hpp"
#include "launcher/report/summarize.hpp"
#include "launcher/supervise/child_watch.hpp"
#include "launcher/supervise/console.hpp"
#include "launcher/supervise/descendants.hpp"
#include "launcher/supervise/event_writer.hpp"
#include "launcher/supervise/fork_starter.hpp"
#include "launcher/supervise/guard_link.hpp"
#include "launcher/supervise/host_link.hpp"
#include "launcher/supervise/memory_sampler.hpp"
#include "launcher/supervise/replica_group.hpp"
#include "launcher/supervise/replica_output.hpp"
#include "launcher/supervise/run_inputs.hpp"
#include "launcher/supervise/spawn_starter.hpp"
#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/guard.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

class Supervisor final : private ReplicaGroup::Observer {
 public:
  /// `inputs` must outlive it. Throws boost::system::system_error if the loop's own descriptors cannot be made.
  Supervisor(const RunInputs& inputs, SupervisorSeat seat);

  /// Runs the job to its end. Returns the exit status; report.json is written and the report printed by then.
  int run();

 private:
  // ReplicaGroup::Observer
  void replica_started(const ReplicaPlan& replica, int pid) override;
  void replica_ended(const Ending& ending) override;
  void replica_lost(const Ending& ending) override;
  void group_started(int never_started) override;

  // What the ForkStarter tells, where there is one.
  [[nodiscard]] std::unique_ptr<ForkStarter> make_fork_starter(const sigset_t& original_mask);
  void template_runs(pid_t pid);
  void replica_said(Rank rank, Arrived arrived);
  void template_failed(const Ending& ending);

  // Events in.
  void handle(policy::Event event);
  void guard_said(GuardMessage message);
  void lose(EndedBy side);
  void request_stop(int signal, policy::Asker asker);
  void children_changed();
  void arm_timer();

  // Actions out, one overload each.
  void perform(const policy::ReservePorts& action);
  void perform(const policy::StartGroup& action);
  void perform(const policy::CancelStart& action);
  void perform(const policy::StopReplicas& action);
  void perform(const policy::KillReplicas& action);
  void perform(const policy::PassSignal& action);
  void perform(const policy::AbandonReplicas& action);
  void perform(const policy::SweepDescendants& action);
  void perform(const policy::NameLeftovers& action);
  void perform(const policy::DiagnoseAttempt& action);
  void perform(const policy::Finish& action);

  void log_end(const Ending& ending);
  void give_terminal_to_replica();
  void note_rendezvous_use();
  void measure_sharing();
  [[nodiscard]] std::optional<ModelReport> model_report() const;
  void say(const std::string& sentence);
  void say_whom_we_wait_for();
  void announce_restart(Attempt attempt);
  [[nodiscard]] std::vector<Ending> whole_endings() const;
  void add_output(Ending& ending) const;
  [[nodiscard]] std::map<Rank, LogFiles> log_files() const;
  void add_heartbeat(Ending& ending) const;
  [[nodiscard]] AttemptEvidence gather_evidence(const std::vector<Ending>& endings) const;
  void publish(const RunReport& report);
  void leave();

  const RunInputs& inputs_;
  boost::asio::io_context io_;
  Console console_;
  ReplicaOutput output_;
  std::unique_ptr<SpawnStarter> spawn_starter_;  ///< One of the two.
  std::unique_ptr<ForkStarter> fork_starter_;
  ReplicaGroup group_;
  Descendants descendants_;
  EventWriter events_;
  GuardLink guard_;
  std::unique_ptr<HostLink> host_;  ///< Where a host program has started the job.
  ChildWatch children_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer patience_;  ///< Until the user is told whom a stop waits for.
  MemorySampler memory_;

  policy::GroupMachine machine_;
  std::deque<policy::Event> queue_;
  enum class Pump { idle, running } pump_ = Pump::idle;
  std::optional<policy::Instant> armed_for_;
  std::optional<policy::SweepHow> sweeping_;

  AttemptValues attempt_;
  const std::optional<Cgroup> memory_cgroup_ = own_memory_cgroup();
  AttemptEvidence evidence_;
  std::string heartbeats_;  ///< The file of the run, as it was when the attempt was over.
  enum class Rendezvous { unknown, used } rendezvous_ = Rendezvous::unknown;
  int rendezvous_looks_ = 0;
  struct Sharing {
    std::uint64_t pss_bytes = 0;
    int replicas = 0;
  };
  std::optional<Sharing> sharing_;  ///< Of the last attempt.
  std::vector<AttemptReport> attempts_;
  std::string launcher_error_;      ///< Why no further attempt could be prepared.
  Descriptor spare_;                ///< Given up for report.json, which must be written also where none is left.
  EndedBy lost_ = EndedBy::nobody;  ///< Which process above this one is gone.
  std::vector<Leftover> leftovers_;
  std::vector<std::string> notes_;
  int exit_status_ = 125;
  enum class Phase { supervising, leaving } phase_ = Phase::supervising;
};

/// Runs a Supervisor; a machine that refuses its descriptors is one sentence on stderr and 125.
int supervise(const RunInputs& inputs, SupervisorSeat seat);

}  // namespace forklift
