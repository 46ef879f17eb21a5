#include "launcher/report/summarize.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "launcher/report/replica_groups.hpp"
#include "tests/report/builders.hpp"

namespace forklift {
namespace {

std::optional<RootCause> cause(Outcome outcome) { return testing::a_root_cause(0, std::move(outcome), {}); }

TEST(ExitStatus, EveryRowOfTheContract_Holds) {
  const struct {
    RunResult result;
    int stop_signal;
    std::optional<RootCause> root_cause;
    int status;
  } table[] = {
      {RunResult::succeeded, 0, {}, 0},
      {RunResult::failed, 0, cause(Exited{1}), 1},
      {RunResult::failed, 0, cause(Exited{137}), 137},
      {RunResult::failed, 0, cause(Exited{255}), 255},
      {RunResult::failed, 0, cause(Signalled{SIGSEGV, true}), 139},
      {RunResult::failed, 0, cause(Signalled{SIGKILL, false}), 137},
      {RunResult::failed, 0, cause(FailedToStart{StartStep::execute, ENOENT, "/x"}), 127},
      {RunResult::failed, 0, cause(FailedToStart{StartStep::execute, EACCES, "/x"}), 126},
      {RunResult::failed, 0, cause(FailedToStart{StartStep::execute, ENOEXEC, "/x"}), 126},
      {RunResult::failed, 0, cause(FailedToStart{StartStep::execute, E2BIG, "/x"}), 126},
      {RunResult::failed, 0, cause(FailedToStart{StartStep::clone, EAGAIN, ""}), 125},
      {RunResult::failed, 0, cause(FailedToStart{StartStep::working_directory, ENOENT, "/x"}), 125},
      {RunResult::failed, 0, cause(Lost{"stolen"}), 125},
      {RunResult::failed, 0, {}, 125},
      {RunResult::interrupted, SIGINT, {}, 130},
      {RunResult::interrupted, SIGTERM, cause(Exited{1}), 143},
      {RunResult::interrupted, 0, {}, 143},
  };
  for (const auto& row : table) {
    EXPECT_EQ(exit_status_of(row.result, row.stop_signal, row.root_cause), row.status);
  }
}

TEST(Summarize, FailedRun_HasRolesInRankOrder) {
  const RunReport report = testing::an_exception_report();
  ASSERT_EQ(report.replicas.size(), 4U);
  for (std::size_t at = 0; at < report.replicas.size(); ++at) EXPECT_EQ(report.replicas[at].rank.index(), at);
  EXPECT_EQ(report.replicas[2].role, ReplicaRole::root_cause);
  EXPECT_EQ(report.replicas[0].role, ReplicaRole::collateral);
  EXPECT_EQ(report.exit_status, 1);
  ASSERT_TRUE(report.root_cause);
  EXPECT_EQ(report.root_cause->rank, Rank{2});
}

TEST(Summarize, SucceededAfterARestart_HasNoRootCause) {
  RunFacts facts = testing::facts_of(RunResult::succeeded);
  facts.attempts = {{Attempt{0}, testing::a_root_cause(0, Exited{1}, {})}, {Attempt{1}, std::nullopt}};
  facts.endings = {testing::an_ending(0, Exited{0})};
  const RunReport report = summarize(testing::a_plan(1), std::move(facts));
  EXPECT_FALSE(report.root_cause);
  EXPECT_EQ(report.attempts.size(), 2U);
  EXPECT_EQ(report.replicas.at(0).role, ReplicaRole::succeeded);
  EXPECT_EQ(report.exit_status, 0);
}

std::vector<std::string> lines_of(std::string stderr_tail, std::string stdout_tail) {
  RunFacts facts = testing::facts_of(RunResult::succeeded);
  facts.endings = {testing::an_ending(0, Exited{0})};
  facts.endings[0].stderr_tail = std::move(stderr_tail);
  facts.endings[0].stdout_tail = std::move(stdout_tail);
  return summarize(testing::a_plan(1), std::move(facts)).replicas.at(0).last_lines;
}

TEST(LastLines, StderrSilent_AreThoseOfStdout) {
  EXPECT_EQ(lines_of("", "out\n"), std::vector<std::string>{"out"});
  EXPECT_EQ(lines_of("err\n", "out\n"), std::vector<std::string>{"err"});
}

TEST(LastLines, ProgressBarsAndInvalidBytes_AreCleaned) {
  EXPECT_EQ(lines_of("  1%\r 50%\r100%\n\xFFwhat\n", ""), (std::vector<std::string>{"100%", "\xEF\xBF\xBDwhat"}));
}

TEST(LastLines, LongTail_GivesTenWholeLines) {
  std::string tail;
  for (int line = 0; line < 5000; ++line) tail += "line " + std::to_string(line) + "\n";
  const std::vector<std::string> lines = lines_of(tail, "");
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines.front(), "line 4990");
  EXPECT_EQ(lines.back(), "line 4999");
}

TEST(RankRanges, EachShape_IsCompressed) {
  EXPECT_EQ(rank_ranges({3}), "rank 3");
  EXPECT_EQ(rank_ranges({0, 1}), "ranks 0-1");
  EXPECT_EQ(rank_ranges({0, 1, 3, 4, 5, 63}), "ranks 0-1, 3-5, 63");
  std::vector<int> even;
  for (int rank = 0; rank < 100; rank += 2) even.push_back(rank);
  EXPECT_EQ(rank_ranges(even), "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, … (50 in all)");
}

TEST(OtherReplicas, EachKindOfEnd_IsOneLine) {
  RunReport report;
  const struct {
    Outcome outcome;
    AskedToStop asked;
    const char* line;
    int pid = 4711;
  } table[] = {
      {Exited{0}, AskedToStop::no, "rank 0: succeeded"},
      {Signalled{SIGTERM, false}, AskedToStop::politely, "rank 1: stopped by forklift (SIGTERM)"},
      {Signalled{SIGKILL, false}, AskedToStop::killed, "rank 2: killed by forklift (SIGKILL)"},
      {Signalled{SIGABRT, true}, AskedToStop::politely, "rank 3: stopped by forklift, killed by SIGABRT (core dumped)"},
      {Exited{3}, AskedToStop::politely, "rank 4: stopped by forklift, exited with code 3"},
      {Exited{3}, AskedToStop::no, "rank 5: exited with code 3"},
      {Lost{"it outlived SIGKILL"}, AskedToStop::killed, "rank 6: lost: it outlived SIGKILL"},
      {
          Signalled{SIGTERM, false},
          AskedToStop::killed,
          "rank 7: stopped by forklift (SIGTERM)",
      },
      {Lost{"its start was cancelled before its turn"}, AskedToStop::politely, "rank 8: never started", 0},
  };
  std::vector<std::string> expected;
  int rank = 0;
  for (const auto& row : table) {
    ReplicaReport replica;
    replica.rank = Rank{rank++};
    replica.pid = row.pid;
    replica.outcome = row.outcome;
    replica.asked = row.asked;
    replica.role = ReplicaRole::collateral;
    report.replicas.push_back(replica);
    expected.emplace_back(row.line);
  }
  expected[1] = "ranks 1, 7: stopped by forklift (SIGTERM)";
  expected.erase(expected.begin() + 7);
  EXPECT_EQ(other_replicas(report), expected);
}

}  // namespace
}  // namespace forklift
