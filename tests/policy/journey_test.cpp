// Whole lives of a group: what happens, one line per event.
#include <gtest/gtest.h>

#include <csignal>
#include <utility>

#include "tests/policy/scripted_group.hpp"

namespace forklift::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

const Outcome terminated = Signalled{.signal = SIGTERM};

GroupRules two_replicas() {
  GroupRules rules;
  rules.replicas = 2;
  return rules;
}

ScriptedGroup running(GroupRules rules) {
  ScriptedGroup group(std::move(rules));
  group.start();
  return group;
}

TEST(GroupMachine, AllSucceed_LooksForDescendantsDiagnosesAndFinishes) {
  ScriptedGroup group(two_replicas());
  EXPECT_EQ(group.take(Begin{}), "reserving: ReservePorts 0");
  EXPECT_EQ(group.take(PortsReserved{}), "starting: StartGroup 0");
  EXPECT_EQ(group.take(ended(1, Exited{0})), "starting: -");
  EXPECT_EQ(group.take(GroupStarted{}), "running: -");
  EXPECT_EQ(group.machine().next_deadline(), std::nullopt);
  EXPECT_EQ(group.take(ended(0, Exited{0})), "sweeping: Sweep look");
  EXPECT_EQ(group.take(DescendantsLeft{0}), "diagnosing: Diagnose 0");
  EXPECT_EQ(group.take(AttemptDiagnosed{}), "finished: Finish succeeded 0");
}

TEST(GroupMachine, AllEndDuringTheStart_WaitsForTheStartToBeOver) {
  ScriptedGroup group(two_replicas());
  group.take(Begin{});
  group.take(PortsReserved{});
  EXPECT_EQ(group.take(ended(0, Exited{0})), "starting: -");
  EXPECT_EQ(group.take(ended(1, Exited{0})), "starting: -");
  EXPECT_EQ(group.take(GroupStarted{}), "sweeping: Sweep look");
}

TEST(GroupMachine, StubbornEverything_IsBoundedByTheLadderAndTheSweep) {
  ScriptedGroup group = running(two_replicas());
  EXPECT_EQ(group.take(ended(0, Exited{1})), "stopping: StopReplicas TERM");
  EXPECT_EQ(group.wait(seconds(30) - nanoseconds(1)), "stopping: -");
  EXPECT_EQ(group.wait(nanoseconds(1)), "stopping: KillReplicas");
  EXPECT_EQ(group.wait(seconds(10)), "sweeping: AbandonReplicas, Sweep kill");
  EXPECT_EQ(group.take(DescendantsLeft{1}), "sweeping: -");
  EXPECT_EQ(group.wait(seconds(10)), "diagnosing: NameLeftovers, Diagnose 0");
  EXPECT_EQ(group.take(AttemptDiagnosed{Category::exit_code}), "finished: Finish failed 0");
}

TEST(GroupMachine, SomethingWasGivenUp_MakesNoFurtherAttempt) {
  GroupRules rules = two_replicas();
  rules.restart.max_restarts = 9;
  ScriptedGroup replica_left = running(rules);
  replica_left.take(ended(0, Exited{1}));
  replica_left.wait(seconds(30));
  replica_left.wait(seconds(10));
  replica_left.take(DescendantsLeft{0});
  EXPECT_EQ(replica_left.take(AttemptDiagnosed{Category::exit_code}), "finished: Finish failed 0");

  ScriptedGroup descendant_left = running(rules);
  descendant_left.take(ended(0, Exited{1}));
  descendant_left.take(ended(1, terminated));
  descendant_left.take(DescendantsLeft{1});
  descendant_left.wait(seconds(10));
  EXPECT_EQ(descendant_left.take(AttemptDiagnosed{Category::exit_code}), "finished: Finish failed 0");
}

TEST(GroupMachine, StrangersAfterSuccess_AreNamedAskedKilledAndGivenUpButItSucceeded) {
  ScriptedGroup group = running(two_replicas());
  group.take(ended(0, Exited{0}));
  group.take(ended(1, Exited{0}));
  EXPECT_EQ(group.take(DescendantsLeft{2}), "sweeping: NameLeftovers, Sweep politely");
  EXPECT_EQ(group.wait(seconds(5)), "sweeping: Sweep kill");
  EXPECT_EQ(group.wait(seconds(10)), "diagnosing: Diagnose 0");
  EXPECT_EQ(group.take(AttemptDiagnosed{}), "finished: Finish succeeded 0");
}

TEST(GroupMachine, StopRequestedAfterSuccess_HurriesTheSweepAndStillSucceeded) {
  ScriptedGroup group = running(two_replicas());
  group.take(ended(0, Exited{0}));
  group.take(ended(1, Exited{0}));
  group.take(DescendantsLeft{2});
  EXPECT_EQ(group.take(StopRequested{SIGTERM, Asker::outside}), "sweeping: Sweep kill");
  EXPECT_EQ(group.take(DescendantsLeft{0}), "diagnosing: Diagnose 0");
  EXPECT_EQ(group.take(AttemptDiagnosed{}), "finished: Finish succeeded 0");
}

TEST(GroupMachine, StopRequestedAndAllExitZero_IsInterruptedAllTheSame) {
  ScriptedGroup group = running(two_replicas());
  group.take(StopRequested{SIGTERM, Asker::outside});
  group.take(ended(0, Exited{0}));
  EXPECT_EQ(group.take(ended(1, Exited{0})), "sweeping: Sweep kill");
  EXPECT_EQ(group.take(DescendantsLeft{0}), "diagnosing: Diagnose 0");
  EXPECT_EQ(group.take(AttemptDiagnosed{}), "finished: Finish interrupted TERM");
}

TEST(GroupMachine, StopDuringTheStart_WaitsForThoseAlreadyStarted) {
  ScriptedGroup group(two_replicas());
  group.take(Begin{});
  group.take(PortsReserved{});
  EXPECT_EQ(group.take(StopRequested{SIGINT, Asker::terminal}), "stopping: CancelStart, StopReplicas INT");
  EXPECT_EQ(group.take(ended(0, Signalled{.signal = SIGINT})), "stopping: -");
  EXPECT_EQ(group.take(GroupStarted{Attempt{0}, 1}), "sweeping: Sweep kill");
}

TEST(GroupMachine, ShutdownTimeoutZero_KillsAtOnce) {
  GroupRules rules = two_replicas();
  rules.stop.shutdown_timeout = seconds(0);
  ScriptedGroup group = running(rules);
  EXPECT_EQ(group.take(StopRequested{SIGTERM, Asker::outside}), "stopping: KillReplicas");
  EXPECT_EQ(group.machine().next_deadline(), group.now() + seconds(10));
}

TEST(GroupMachine, GuardLost_OneBoundForReplicasAndDescendants) {
  ScriptedGroup group = running(two_replicas());
  EXPECT_EQ(group.take(GuardLost{}), "stopping: KillReplicas, Sweep kill");
  const Instant bound = group.now() + seconds(10);
  group.pass_time(seconds(4));
  group.take(ended(0, Signalled{.signal = SIGKILL}));
  EXPECT_EQ(group.take(ended(1, Signalled{.signal = SIGKILL})), "sweeping: Sweep kill");
  EXPECT_EQ(group.machine().next_deadline(), bound);
  EXPECT_EQ(group.wait_for_deadline(), "finished: NameLeftovers, Finish failed 0");
}

TEST(GroupMachine, LauncherFailsInTheEndOfASuccess_IsNoSuccess) {
  ScriptedGroup group = running(two_replicas());
  group.take(ended(0, Exited{0}));
  group.take(ended(1, Exited{0}));
  EXPECT_EQ(group.take(LauncherFailed{}), "sweeping: Sweep kill");
  EXPECT_EQ(group.take(DescendantsLeft{0}), "finished: Finish failed 0");
}

// ---- judging ------------------------------------------------------------------------------------------------------

TEST(Judging, StopRequestArrivesInTime_IsTheCause) {
  ScriptedGroup group = running(two_replicas());
  EXPECT_EQ(group.take(ended(0, terminated)), "judging: -");
  EXPECT_EQ(group.machine().next_deadline(), group.now() + milliseconds(200));
  group.pass_time(milliseconds(199));
  EXPECT_EQ(group.take(StopRequested{SIGTERM, Asker::outside}), "stopping: StopReplicas TERM");
  group.take(ended(1, terminated));
  group.take(DescendantsLeft{0});
  EXPECT_EQ(group.take(AttemptDiagnosed{Category::interrupted}), "finished: Finish interrupted TERM");
}

TEST(Judging, NobodyAsked_IsAFailure) {
  ScriptedGroup group = running(two_replicas());
  group.take(ended(0, terminated));
  EXPECT_EQ(group.wait(milliseconds(200)), "stopping: StopReplicas TERM");
  group.take(ended(1, terminated));
  group.take(DescendantsLeft{0});
  EXPECT_EQ(group.take(AttemptDiagnosed{Category::killed_from_outside}), "finished: Finish failed 0");
}

TEST(Judging, AllEndInTheMeantime_StillWaitsForTheRequest) {
  ScriptedGroup group = running(two_replicas());
  group.take(ended(0, terminated));
  EXPECT_EQ(group.take(ended(1, terminated)), "judging: -");
  ScriptedGroup unasked = group;
  EXPECT_EQ(unasked.wait(milliseconds(200)), "sweeping: Sweep kill");
  EXPECT_EQ(group.take(StopRequested{SIGTERM, Asker::outside}), "sweeping: Sweep kill");
  group.take(DescendantsLeft{0});
  EXPECT_EQ(group.take(AttemptDiagnosed{}), "finished: Finish interrupted TERM");
}

TEST(Judging, DeathOfAnotherKind_EndsTheWait) {
  GroupRules rules = two_replicas();
  rules.replicas = 3;
  ScriptedGroup group = running(rules);
  group.take(ended(0, terminated));
  EXPECT_EQ(group.take(ended(1, Signalled{.signal = SIGHUP})), "judging: -");
  EXPECT_EQ(group.take(ended(2, Signalled{.signal = SIGSEGV})), "sweeping: Sweep kill");
}

// ---- restarts -----------------------------------------------------------------------------------------------------

/// From a running group to the diagnosis of its failure.
std::string fail(ScriptedGroup& group, Category category) {
  group.take(ended(0, Exited{1}));
  group.take(ended(1, terminated));
  group.take(DescendantsLeft{0});
  return group.take(AttemptDiagnosed{category});
}

TEST(Restart, BudgetLeft_StartsTheWholeGroupAgainOnNewPorts) {
  GroupRules rules = two_replicas();
  rules.restart.max_restarts = 1;
  ScriptedGroup group = running(rules);
  EXPECT_EQ(fail(group, Category::exit_code), "reserving: ReservePorts 1");
  EXPECT_EQ(group.machine().attempt(), Attempt{1});
  EXPECT_EQ(group.take(PortsReserved{Attempt{0}}), "reserving: -");
  EXPECT_EQ(group.take(PortsReserved{Attempt{1}}), "starting: StartGroup 1");
  EXPECT_EQ(group.take(GroupStarted{Attempt{1}}), "running: -");
  EXPECT_EQ(fail(group, Category::exit_code), "finished: Finish failed 0");
}

TEST(Restart, PortTakenByAnother_IsTriedOnceMoreWithoutABudget) {
  ScriptedGroup group = running(two_replicas());
  EXPECT_EQ(fail(group, Category::port_in_use), "reserving: ReservePorts 1");
  group.start_attempt();
  EXPECT_EQ(fail(group, Category::port_in_use), "finished: Finish failed 0");
}

TEST(Restart, StopRequestedBetweenAttempts_IsInterrupted) {
  GroupRules rules = two_replicas();
  rules.restart.max_restarts = 1;
  ScriptedGroup group = running(rules);
  fail(group, Category::exit_code);
  EXPECT_EQ(group.take(StopRequested{SIGTERM, Asker::outside}), "finished: Finish interrupted TERM");
}

TEST(Restart, StopRequestedDuringTheDiagnosis_IsInterruptedOnlyIfAnotherAttemptWasDue) {
  for (const int max_restarts : {0, 1}) {
    GroupRules rules = two_replicas();
    rules.restart.max_restarts = max_restarts;
    ScriptedGroup group = running(rules);
    group.take(ended(0, Exited{1}));
    group.take(ended(1, terminated));
    group.take(DescendantsLeft{0});
    EXPECT_EQ(group.take(StopRequested{SIGTERM, Asker::outside}), "diagnosing: -");
    EXPECT_EQ(group.take(AttemptDiagnosed{Category::exit_code}),
              max_restarts == 0 ? "finished: Finish failed 0" : "finished: Finish interrupted TERM");
  }
}

TEST(Restart, StopRequestedWhileStoppingAndAgainDuringTheDiagnosis_StaysFailed) {
  GroupRules rules = two_replicas();
  rules.restart.max_restarts = 1;
  ScriptedGroup group = running(rules);
  group.take(ended(0, Exited{1}));
  group.take(StopRequested{SIGTERM, Asker::outside});
  group.take(ended(1, terminated));
  group.take(DescendantsLeft{0});
  EXPECT_EQ(group.take(StopRequested{SIGTERM, Asker::outside}), "diagnosing: -");
  EXPECT_EQ(group.take(AttemptDiagnosed{Category::exit_code}), "finished: Finish failed 0");
}

// ---- the time limit -----------------------------------------------------------------------------------------------

GroupRules limited(Duration limit, int checkpoint_signal) {
  GroupRules rules = two_replicas();
  rules.time.limit = limit;
  rules.time.checkpoint_signal = checkpoint_signal;
  return rules;
}

TEST(TimeLimited, CheckpointThenStop_InterruptedByTerm) {
  ScriptedGroup group = running(limited(seconds(100), SIGUSR1));
  EXPECT_EQ(group.wait(seconds(40) - nanoseconds(1)), "running: -");
  EXPECT_EQ(group.wait(nanoseconds(1)), "running: PassSignal USR1");
  EXPECT_EQ(group.wait(seconds(60) - nanoseconds(1)), "running: -");
  EXPECT_EQ(group.wait(nanoseconds(1)), "stopping: StopReplicas TERM");
  EXPECT_EQ(group.machine().next_deadline(), group.now() + seconds(30));
  group.take(ended(0, Exited{0}));
  group.take(ended(1, Exited{0}));
  group.take(DescendantsLeft{0});
  EXPECT_EQ(group.take(AttemptDiagnosed{}), "finished: Finish interrupted TERM");
}

TEST(TimeLimited, Finished_SaysThatTheLimitAskedForIt) {
  GroupMachine machine(limited(seconds(1), 0));
  machine.step(Begin{}, seconds(10));
  const Actions actions = machine.step(Tick{}, seconds(11));
  ASSERT_EQ(actions.size(), 1U);
  const auto* finish = std::get_if<Finish>(&actions.front());
  ASSERT_NE(finish, nullptr) << to_text(actions);
  EXPECT_EQ(finish->asker, Asker::time_limit);
}

TEST(TimeLimited, LeadLongerThanTheLimit_CheckpointsAsSoonAsTheGroupRuns) {
  ScriptedGroup group(limited(seconds(30), SIGUSR2));
  group.take(Begin{});
  group.take(PortsReserved{});
  EXPECT_EQ(group.wait(seconds(1)), "starting: -");
  group.take(GroupStarted{});
  EXPECT_EQ(group.machine().next_deadline(), group.now() - seconds(1));
  EXPECT_EQ(group.take(Tick{}), "running: PassSignal USR2");
  EXPECT_EQ(group.take(Tick{}), "running: -");
}

TEST(TimeLimited, BothDeadlinesPassedAtOnce_AreHandledInOrder) {
  ScriptedGroup group = running(limited(seconds(100), SIGUSR1));
  EXPECT_EQ(group.wait(seconds(500)), "stopping: PassSignal USR1, StopReplicas TERM");
}

TEST(TimeLimited, RestartInBetween_LimitRunsOverAllAttempts) {
  GroupRules rules = limited(seconds(100), 0);
  rules.restart.max_restarts = 5;
  ScriptedGroup group = running(rules);
  group.pass_time(seconds(90));
  EXPECT_EQ(fail(group, Category::exit_code), "reserving: ReservePorts 1");
  group.start_attempt();
  EXPECT_EQ(group.wait(seconds(10)), "stopping: StopReplicas TERM");
}

TEST(TimeLimited, ReachedWhileStoppingAfterAFailure_ForbidsTheNextAttemptAndStaysFailed) {
  GroupRules rules = limited(seconds(100), 0);
  rules.restart.max_restarts = 5;
  ScriptedGroup group = running(rules);
  group.pass_time(seconds(90));
  group.take(ended(0, Exited{1}));
  EXPECT_EQ(group.wait(seconds(10)), "stopping: -");
  EXPECT_EQ(group.machine().next_deadline(), group.now() + seconds(20));
  group.take(ended(1, terminated));
  group.take(DescendantsLeft{0});
  EXPECT_EQ(group.take(AttemptDiagnosed{Category::exit_code}), "finished: Finish failed 0");
}

TEST(TimeLimited, StoppedBefore_TheLimitWakesNobody) {
  ScriptedGroup group = running(limited(seconds(100), SIGUSR1));
  group.take(StopRequested{SIGHUP, Asker::outside});
  EXPECT_EQ(group.wait(seconds(30)), "stopping: KillReplicas");
  group.take(ended(0, terminated));
  group.take(ended(1, terminated));
  group.take(DescendantsLeft{0});
  EXPECT_EQ(group.machine().next_deadline(), std::nullopt);
  EXPECT_EQ(group.take(AttemptDiagnosed{}), "finished: Finish interrupted HUP");
}

TEST(TimeLimited, InterruptedOnTheTerminalAfterwards_EscalatesOnlyByTheSecondInterrupt) {
  ScriptedGroup group = running(limited(seconds(100), 0));
  EXPECT_EQ(group.wait(seconds(100)), "stopping: StopReplicas TERM");
  const StopRequested interrupt{SIGINT, Asker::terminal};
  EXPECT_EQ(group.take(interrupt), "stopping: StopReplicas INT");
  group.pass_time(seconds(2));
  EXPECT_EQ(group.take(interrupt), "stopping: KillReplicas");
}

TEST(GroupMachine, GraceOfTwoHundredYears_DoesNotOverflow) {
  GroupRules rules = two_replicas();
  rules.stop.shutdown_timeout = Duration::max();
  ScriptedGroup group = running(rules);
  group.take(StopRequested{SIGTERM, Asker::outside});
  EXPECT_EQ(group.machine().next_deadline(), Instant::max());
}

TEST(GroupMachine, Copied_GoesItsOwnWay) {
  const ScriptedGroup group = running(two_replicas());
  ScriptedGroup one = group;
  ScriptedGroup other = group;
  EXPECT_EQ(one.take(StopRequested{SIGTERM, Asker::outside}), "stopping: StopReplicas TERM");
  EXPECT_EQ(other.take(ended(0, Exited{0})), "running: -");
  EXPECT_EQ(other.machine().phase(), Phase::running);
}

}  // namespace
}  // namespace forklift::policy
