// Every ordered pair of stop requests: four signals × two askers each, within and beyond the second in which a repeat
// is the same request.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/policy/scripted_group.hpp"

namespace forklift::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr Asker askers[] = {Asker::terminal, Asker::outside};

/// What the second request does, row = second, column = first: f(orward), n(othing), k(ill if both came from the
/// terminal).
///                                  INT  TERM HUP  QUIT
constexpr char expected_when_running[4][4] = {{'k', 'f', 'f', 'f'},   // INT
                                              {'f', 'n', 'f', 'f'},   // TERM
                                              {'f', 'f', 'n', 'f'},   // HUP
                                              {'f', 'f', 'f', 'n'}};  // QUIT

enum class Gap { within_a_second, beyond_a_second };

constexpr Duration length(Gap gap) { return gap == Gap::within_a_second ? milliseconds(1000) : milliseconds(1001); }

ScriptedGroup running_group() {
  GroupRules rules;
  rules.replicas = 2;
  rules.restart.max_restarts = 1;
  ScriptedGroup group(rules);
  group.start();
  return group;
}

std::string expected_of(char cell, const StopRequested& first, const StopRequested& second, Gap gap) {
  const bool both_from_terminal = first.asker == Asker::terminal && second.asker == Asker::terminal;
  if (cell == 'f') return "stopping: StopReplicas " + signal_word(second.signal);
  if (cell == 'k' && both_from_terminal && gap == Gap::beyond_a_second) return "stopping: KillReplicas";
  return "stopping: -";
}

std::string words(const StopRequested& request) {
  return signal_word(request.signal) + (request.asker == Asker::terminal ? " (terminal)" : " (outside)");
}

/// All 64 pairs of {signal, asker}; `check(first, second, row, column)`.
template <class Check>
void for_every_pair(const Check& check) {
  for (std::size_t column = 0; column < 4; ++column) {
    for (std::size_t row = 0; row < 4; ++row) {
      for (const Asker first_asker : askers) {
        for (const Asker second_asker : askers) {
          const StopRequested first{signals[column], first_asker};
          const StopRequested second{signals[row], second_asker};
          SCOPED_TRACE(words(first) + ", then " + words(second));
          check(first, second, row, column);
        }
      }
    }
  }
}

TEST(StopRequestPairs, OnARunningGroup_FollowTheTable) {
  for (const Gap gap : {Gap::within_a_second, Gap::beyond_a_second}) {
    for_every_pair([&](const StopRequested& first, const StopRequested& second, std::size_t row, std::size_t column) {
      ScriptedGroup group = running_group();
      EXPECT_EQ(group.take(first), "stopping: StopReplicas " + signal_word(first.signal));
      const Instant deadline = group.machine().next_deadline().value();
      group.pass_time(length(gap));
      const std::string expected = expected_of(expected_when_running[row][column], first, second, gap);
      EXPECT_EQ(group.take(second), expected);
      if (expected == "stopping: KillReplicas") return;
      EXPECT_EQ(group.machine().next_deadline(), deadline);
    });
  }
}

TEST(StopRequestPairs, WhateverTheSecond_TheFirstSignalIsTheResult) {
  for_every_pair([&](const StopRequested& first, const StopRequested& second, std::size_t, std::size_t) {
    ScriptedGroup group = running_group();
    group.take(first);
    group.pass_time(seconds(2));
    group.take(second);
    group.take(ended(0, Exited{0}));
    group.take(ended(1, Exited{0}));
    group.take(DescendantsLeft{0});
    EXPECT_EQ(group.take(AttemptDiagnosed{}), "finished: Finish interrupted " + signal_word(first.signal));
  });
}

TEST(StopRequestPairs, WhileStoppingAfterAFailure_FirstIsForwardedUnlessTermAndSecondFollowsTheTable) {
  for_every_pair([&](const StopRequested& first, const StopRequested& second, std::size_t row, std::size_t column) {
    ScriptedGroup group = running_group();
    group.take(ended(0, Exited{3}));
    EXPECT_EQ(group.take(first), first.signal == SIGTERM ? std::string("stopping: -")
                                                         : "stopping: StopReplicas " + signal_word(first.signal));
    group.pass_time(seconds(2));
    // SIGTERM is what the failure itself sent: as a second request it never adds anything.
    const std::string by_table = expected_of(expected_when_running[row][column], first, second, Gap::beyond_a_second);
    EXPECT_EQ(group.take(second), second.signal == SIGTERM ? "stopping: -" : by_table);
    group.take(ended(1, Exited{0}));
    group.take(DescendantsLeft{0});
    EXPECT_EQ(group.take(AttemptDiagnosed{Category::exit_code}), "finished: Finish failed 0");
  });
}

TEST(StopRequestPairs, WhileKilling_NothingIsAdded) {
  for_every_pair([&](const StopRequested& first, const StopRequested& second, std::size_t, std::size_t) {
    ScriptedGroup group = running_group();
    group.take(first);
    EXPECT_EQ(group.wait(seconds(30)), "stopping: KillReplicas");
    const Instant deadline = group.machine().next_deadline().value();
    EXPECT_EQ(group.take(second), "stopping: -");
    EXPECT_EQ(group.machine().next_deadline(), deadline);
  });
}

TEST(StopRequests, ThreeOnTheTerminal_HammeringDoesNotPostponeTheKill) {
  ScriptedGroup group = running_group();
  const StopRequested interrupt{SIGINT, Asker::terminal};
  EXPECT_EQ(group.take(interrupt), "stopping: StopReplicas INT");
  group.pass_time(milliseconds(700));
  EXPECT_EQ(group.take(interrupt), "stopping: -");
  group.pass_time(milliseconds(700));
  EXPECT_EQ(group.take(interrupt), "stopping: KillReplicas");
}

}  // namespace
}  // namespace forklift::policy
