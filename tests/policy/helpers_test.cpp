// The small pure parts of the policy, each alone.
#include <gtest/gtest.h>

#include <csignal>

#include "launcher/policy/descendant_sweep.hpp"
#include "launcher/policy/instant.hpp"
#include "launcher/policy/stop_ladder.hpp"
#include "launcher/policy/stop_requests.hpp"
#include "launcher/policy/time_limit.hpp"
#include "tests/policy/policy_text.hpp"

namespace forklift::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr StopRules rules{.shutdown_timeout = seconds(30), .kill_timeout = seconds(10)};

TEST(After, WaitBeyondTheLastInstant_IsTheLastInstant) {
  EXPECT_EQ(after(seconds(5), seconds(7)), seconds(12));
  EXPECT_EQ(after(seconds(5), Duration::max()), Instant::max());
  EXPECT_EQ(after(Instant::max(), Duration::zero()), Instant::max());
}

TEST(StopLadder, LeftAlone_AsksKillsAbandons) {
  Actions actions;
  StopLadder ladder = StopLadder::politely(rules, SIGTERM, seconds(1), actions);
  EXPECT_EQ(ladder.deadline(), seconds(31));
  ladder.climb(seconds(31), actions);
  EXPECT_EQ(ladder.deadline(), seconds(41));
  ladder.climb(seconds(41), actions);
  ladder.climb(seconds(42), actions);
  EXPECT_EQ(ladder.rung(), Rung::abandoned);
  EXPECT_EQ(to_text(actions), "StopReplicas TERM, KillReplicas, AbandonReplicas");
}

TEST(StopLadder, ClimbedLate_GivesTheKillItsWholeTime) {
  Actions actions;
  StopLadder ladder = StopLadder::politely(rules, SIGTERM, seconds(0), actions);
  ladder.climb(seconds(500), actions);
  EXPECT_EQ(ladder.deadline(), seconds(510));
}

TEST(StopLadder, ShutdownTimeoutZero_KillsAtOnce) {
  Actions actions;
  const StopLadder ladder =
      StopLadder::politely({.shutdown_timeout = seconds(0), .kill_timeout = seconds(10)}, SIGTERM, seconds(1), actions);
  EXPECT_EQ(ladder.rung(), Rung::killing);
  EXPECT_EQ(ladder.deadline(), seconds(11));
  EXPECT_EQ(to_text(actions), "KillReplicas");
}

TEST(StopLadder, FurtherSignals_AreSentOnceAndProlongNothing) {
  Actions actions;
  StopLadder ladder = StopLadder::politely(rules, SIGTERM, seconds(0), actions);
  for (const int signal : {SIGTERM, SIGHUP, SIGTERM, SIGHUP, SIGINT}) ladder.ask(signal, actions);
  EXPECT_EQ(to_text(actions), "StopReplicas TERM, StopReplicas HUP, StopReplicas INT");
  EXPECT_EQ(ladder.deadline(), seconds(30));
}

TEST(StopLadder, AfterKill_AsksAndKillsNoMore) {
  Actions actions;
  StopLadder ladder = StopLadder::at_kill(rules, seconds(0), actions);
  ladder.ask(SIGINT, actions);
  ladder.kill(seconds(5), actions);
  EXPECT_EQ(to_text(actions), "KillReplicas");
  EXPECT_EQ(ladder.deadline(), seconds(10));
}

TEST(StopRequests, TerminalInterruptRepeated_IsImpatientOnlyAfterASecondFromTheFirst) {
  StopRequests requests;
  const StopRequested interrupt{SIGINT, Asker::terminal};
  EXPECT_EQ(requests.take(interrupt, milliseconds(0)), Urgency::patient);
  EXPECT_EQ(requests.take(interrupt, milliseconds(600)), Urgency::patient);
  EXPECT_EQ(requests.take(interrupt, milliseconds(1000)), Urgency::patient);
  EXPECT_EQ(requests.take(interrupt, milliseconds(1001)), Urgency::impatient);
}

TEST(StopRequests, SeveralSignals_FirstOneStoppedTheRun) {
  StopRequests requests;
  EXPECT_FALSE(requests.any());
  EXPECT_EQ(requests.first_signal(), 0);
  EXPECT_FALSE(requests.first_asker());
  requests.take({SIGHUP, Asker::outside}, seconds(1));
  requests.take({SIGTERM, Asker::time_limit}, seconds(2));
  EXPECT_TRUE(requests.any());
  EXPECT_EQ(requests.first_signal(), SIGHUP);
  EXPECT_EQ(requests.first_asker(), Asker::outside);
}

TEST(MayBeStoppedFromOutside, EveryKindOfOutcome_OnlyDeathsByStopSignals) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    EXPECT_TRUE(may_be_stopped_from_outside(Signalled{.signal = signal}));
    EXPECT_FALSE(may_be_stopped_from_outside(Exited{signal}));
    EXPECT_FALSE(may_be_stopped_from_outside(Exited{128 + signal}));
  }
  for (const int signal : {SIGKILL, SIGSEGV, SIGUSR1}) {
    EXPECT_FALSE(may_be_stopped_from_outside(Signalled{.signal = signal}));
  }
  EXPECT_FALSE(may_be_stopped_from_outside(FailedToStart{}));
  EXPECT_FALSE(may_be_stopped_from_outside(Lost{}));
}

constexpr SweepWaits waits{.grace = seconds(5), .kill_timeout = seconds(10)};

TEST(DescendantSweep, NothingLeftAfterSuccess_IsCleanWithoutADeadline) {
  Actions actions;
  DescendantSweep sweep = DescendantSweep::after_success(waits, actions);
  EXPECT_EQ(sweep.deadline(), std::nullopt);
  EXPECT_EQ(sweep.counted(0, seconds(1), actions), SweepProgress::clean);
  EXPECT_EQ(to_text(actions), "Sweep look");
}

TEST(DescendantSweep, StubbornAfterSuccess_NamedAskedKilledGivenUp) {
  Actions actions;
  DescendantSweep sweep = DescendantSweep::after_success(waits, actions);
  EXPECT_EQ(sweep.counted(3, seconds(1), actions), SweepProgress::under_way);
  EXPECT_EQ(sweep.deadline(), seconds(6));
  EXPECT_EQ(sweep.counted(2, seconds(2), actions), SweepProgress::under_way);
  EXPECT_EQ(sweep.overdue(seconds(6), actions), SweepProgress::under_way);
  EXPECT_EQ(sweep.deadline(), seconds(16));
  EXPECT_EQ(sweep.overdue(seconds(16), actions), SweepProgress::given_up);
  EXPECT_EQ(to_text(actions), "Sweep look, NameLeftovers, Sweep politely, Sweep kill");
}

TEST(DescendantSweep, StubbornAfterStop_KilledAndNamedWhenGivenUp) {
  Actions actions;
  DescendantSweep sweep = DescendantSweep::after_stop(waits, seconds(12), actions);
  EXPECT_EQ(sweep.deadline(), seconds(12));
  EXPECT_EQ(sweep.counted(3, seconds(3), actions), SweepProgress::under_way);
  sweep.hurry(seconds(4), actions);
  EXPECT_EQ(sweep.deadline(), seconds(12));
  EXPECT_EQ(sweep.overdue(seconds(12), actions), SweepProgress::given_up);
  EXPECT_EQ(to_text(actions), "Sweep kill, NameLeftovers");
}

struct TimeLimitCase {
  const char* name;
  TimeRules rules;
  std::optional<Instant> checkpoint_at;
  std::optional<Instant> stop_at;
};

TEST(TimeLimit, BegunAtTenSeconds_ComesDueAsTheRulesSay) {
  const TimeLimitCase cases[] = {
      {"no limit", {}, std::nullopt, std::nullopt},
      {"a checkpoint signal alone", {.limit = std::nullopt, .checkpoint_signal = SIGUSR1}, std::nullopt, std::nullopt},
      {"a limit alone", {.limit = seconds(100)}, std::nullopt, seconds(110)},
      {"both", {.limit = seconds(100), .checkpoint_signal = SIGUSR1}, seconds(50), seconds(110)},
      {"lead longer than the limit", {.limit = seconds(30), .checkpoint_signal = SIGUSR1}, seconds(10), seconds(40)},
      {"no lead",
       {.limit = seconds(30), .checkpoint_signal = SIGUSR1, .checkpoint_lead = seconds(0)},
       seconds(40),
       seconds(40)},
  };
  for (const TimeLimitCase& each : cases) {
    SCOPED_TRACE(each.name);
    TimeLimit limit(each.rules);
    EXPECT_EQ(limit.stop_at(), std::nullopt);
    limit.begin(seconds(10));
    EXPECT_EQ(limit.checkpoint_at(), each.checkpoint_at);
    EXPECT_EQ(limit.stop_at(), each.stop_at);
    limit.cancel();
    EXPECT_EQ(limit.checkpoint_at(), std::nullopt);
    EXPECT_EQ(limit.stop_at(), std::nullopt);
  }
}

}  // namespace
}  // namespace forklift::policy
