// Signals from outside: what is passed on, what stops the job, and what the shell is told afterwards.
#include <signal.h>

#include <string>
#include <vector>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift {
namespace {

using namespace support;

class Signals : public SupervisedJobTest {
 protected:
  /// Both of two replicas have said `text`.
  static ::testing::AssertionResult wait_for_both(RunningProcess& job, const std::string& text) {
    if (const auto first = job.wait_for_out("[0] " + text); !first) return first;
    return job.wait_for_out("[1] " + text);
  }

  /// Ends a job of `report-signals`, whose replicas exit 0 at SIGINT.
  static Ended interrupt(RunningProcess& job) {
    job.send(SIGINT);
    return job.wait();
  }

  [[nodiscard]] std::vector<int> replicas_and_guard(const RunningProcess& job) const {
    return {job.pid(), replica_pid(0), replica_pid(1)};
  }
};

TEST_F(Signals, NotForStopping_ReachEveryReplicaAndTheJobGoesOn) {
  RunningProcess job(launch(replicas(2, child("report-signals", {"USR1", "USR2", "WINCH", "QUIT"}))));
  ASSERT_TRUE(wait_for_both(job, "ready"));
  for (const int signal : {SIGUSR1, SIGUSR2, SIGWINCH, SIGQUIT}) {
    job.send(signal);
    ASSERT_TRUE(wait_for_both(job, std::string("got ") + ::sigabbrev_np(signal)));
  }
  interrupt(job);
  EXPECT_EQ(outcomes(), (Words{"exited 0", "exited 0"}));
}

TEST_F(Signals, InterruptOfJobWhoseReplicasExitZero_GuardDiesOfSigint) {
  RunningProcess job(launch(replicas(2, child("report-signals"))));
  ASSERT_TRUE(wait_for_both(job, "ready"));
  const Ended ended = interrupt(job);
  EXPECT_EQ(ended.signal, SIGINT) << ended;
  EXPECT_EQ(report()["exit_status"], 130);
  EXPECT_EQ(report()["result"], "interrupted");
}

TEST_F(Signals, TerminationOfJobWhoseReplicasExitZero_IsExitStatus143) {
  RunningProcess job(launch(replicas(2, child("on-term-exit", {"0"}))));
  ASSERT_TRUE(wait_for_both(job, "ready"));
  job.send(SIGTERM);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(report()["result"], "interrupted");
  EXPECT_TRUE(report()["root_cause"].is_null());
  EXPECT_EQ(outcomes(), (Words{"exited 0", "exited 0"}));
}

TEST_F(Signals, HangupOfJob_StopsItAndIsExitStatus129) {
  RunningProcess job(launch(replicas(2, child("ready-then-hold"))));
  ASSERT_TRUE(wait_for_both(job, "ready"));
  job.send(SIGHUP);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 129) << ended;
  EXPECT_EQ(outcomes(), (Words{"SIGHUP", "SIGHUP"}));
}

// GNU timeout, systemd and Slurm at a time limit all send two.
TEST_F(Signals, TerminationTwice_IsOneRequestToEveryReplica) {
  RunningProcess job(launch(Words{"--shutdown-timeout", "300"} + replicas(2, child("report-signals", {"TERM"}))));
  ASSERT_TRUE(wait_for_both(job, "ready"));
  job.send(SIGTERM);
  ASSERT_TRUE(wait_for_both(job, "got TERM"));  // Before that the kernel would merge the two.
  job.send(SIGTERM);
  ASSERT_TRUE(eventually([this] { return events_reach("stop_requested", 2); }));
  const Ended ended = interrupt(job);
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(occurrences(ended.out, "got TERM"), 2U) << ended;
  std::vector<int> sent;
  for (const Json& event : events("signal_sent")) sent.push_back(event["signal"].get<int>());
  EXPECT_EQ(sent, (std::vector<int>{SIGTERM, SIGINT}));
}

TEST_F(Signals, HangupThatWasIgnoredAtTheStart_DoesNothing) {
  Command command = launch(replicas(2, child("report-signals", {"HUP", "USR1"})));
  command.ignored_signals = {SIGHUP};
  RunningProcess job(command);
  ASSERT_TRUE(wait_for_both(job, "ready"));
  job.send(SIGHUP);
  job.send(SIGUSR1);
  ASSERT_TRUE(wait_for_both(job, "got USR1"));
  const Ended ended = interrupt(job);
  EXPECT_EQ(occurrences(ended.out, "got HUP"), 0U) << ended;
}

TEST_F(Signals, TerminalStop_StopsGuardAndReplicasUntilContinued) {
  RunningProcess job(launch(replicas(2, child("report-signals", {"USR1"}))));
  ASSERT_TRUE(wait_for_both(job, "ready"));
  job.send(SIGTSTP);
  for (const int pid : replicas_and_guard(job)) EXPECT_TRUE(eventually([pid] { return state_is(pid, 'T'); }));
  job.send(SIGCONT);
  for (const int pid : replicas_and_guard(job)) EXPECT_TRUE(eventually([pid] { return state_is(pid, 'S'); }));
  job.send(SIGUSR1);
  EXPECT_TRUE(wait_for_both(job, "got USR1"));
  interrupt(job);
}

// Every replica dies of SIGINT, as Python does of KeyboardInterrupt: nobody is to be blamed for it.
TEST_F(Signals, InterruptThatKillsReplicas_HasNoRootCause) {
  RunningProcess job(launch(replicas(2, child("ready-then-hold"))));
  ASSERT_TRUE(wait_for_both(job, "ready"));
  const Ended ended = interrupt(job);
  EXPECT_EQ(ended.signal, SIGINT) << ended;
  EXPECT_EQ(outcomes(), (Words{"SIGINT", "SIGINT"}));
  EXPECT_TRUE(report()["root_cause"].is_null()) << report().dump(1);
}

// A batch system may signal every process of the job by itself, and the replicas' ends come before its word to us.
TEST_F(Signals, TerminationOfReplicasAndGuardTogether_IsAStopFromOutside) {
  RunningProcess job(launch(replicas(2, child("ready-then-hold"))));
  ASSERT_TRUE(wait_for_both(job, "ready"));
  ::kill(replica_pid(0), SIGTERM);
  ::kill(replica_pid(1), SIGTERM);
  job.send(SIGTERM);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(report()["result"], "interrupted");
}

TEST_F(Signals, SecondInterruptFromTerminal_KillsAtOnce) {
  Command command =
      launch(Words{"--color", "never", "--shutdown-timeout", "300"} + replicas(2, child("block", {"INT"})));
  command.streams = Streams::terminal;
  RunningProcess job(command);
  ASSERT_TRUE(wait_for_both(job, "ready"));
  const std::string interrupt_key = "\x03";
  job.write_input(interrupt_key);
  ASSERT_TRUE(eventually([this] { return events_reach("signal_sent", 1); }));
  // When two blows are two requests is the policy's clock: an impatient person goes on hammering.
  EXPECT_TRUE(eventually([&] {
    job.write_input(interrupt_key);
    return events_reach("signal_sent", 2);
  }));
  const Ended ended = job.wait();
  EXPECT_EQ(ended.signal, SIGINT) << ended;
  EXPECT_EQ(outcomes(), (Words{"SIGKILL", "SIGKILL"}));
}

}  // namespace
}  // namespace forklift
