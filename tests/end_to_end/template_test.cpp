// `forklift launch --template`: a program that runs once up to its fork point, and then once per replica.
#include <signal.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/end_to_end/template_job.hpp"

namespace forklift {
namespace {

using namespace support;

class Template : public TemplateTest {
 protected:
  /// The lines of a stream by who printed them: "[template] ", "[0] ", …
  static std::map<std::string, Words> by_prefix(const std::string& text) {
    std::map<std::string, Words> all;
    for (const std::string& line : lines_of(text)) {
      const std::size_t end = line.find("] ");
      all[line.substr(0, end + 1)].push_back(line.substr(end + 2));
    }
    return all;
  }

  [[nodiscard]] std::string log(int rank, const std::string& name, int attempt = 0) const {
    return read_text(run_directory() / ("attempt_" + std::to_string(attempt)) / std::to_string(rank) / name);
  }
};

// ---- who runs what ------------------------------------------------------------------------------------------------

TEST_F(Template, EveryReplica_HasItsOwnVariables) {
  const Ended ended = run(job(3, {"fork", "print", "RANK", "print", "LOCAL_RANK", "print", "WORLD_SIZE", "print",
                                  "MASTER_ADDR", "print", "MASTER_PORT", "print", "FORKLIFT_ATTEMPT"}));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  std::set<std::string> ports;
  auto said = by_prefix(ended.out);
  EXPECT_EQ(said.size(), 3U) << ended;
  for (int rank = 0; rank < 3; ++rank) {
    const std::string number = std::to_string(rank);
    const std::string lead = "rank " + number + ": ";
    Words& lines = said["[" + number + "]"];
    ASSERT_EQ(lines.size(), 6U) << ended;
    EXPECT_EQ(lines[0], lead + "RANK=" + number);
    EXPECT_EQ(lines[1], lead + "LOCAL_RANK=" + number);
    EXPECT_EQ(lines[2], lead + "WORLD_SIZE=3");
    EXPECT_EQ(lines[3], lead + "MASTER_ADDR=127.0.0.1");
    EXPECT_TRUE(lines[4].starts_with(lead + "MASTER_PORT=")) << lines[4];
    ports.insert(lines[4].substr(lead.size()));
    EXPECT_EQ(lines[5], lead + "FORKLIFT_ATTEMPT=0");
  }
  EXPECT_EQ(ports.size(), 1U);
  EXPECT_EQ(ended.err, "");
}

TEST_F(Template, Loading_HappensOnceAndIsShared) {
  const Ended ended = run(job(4, {"append", file("loads"), "say", "loading", "shared", "fork", "shared"}));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(lines_in("loads"), 1U);
  auto said = by_prefix(ended.out);
  EXPECT_EQ(said["[template]"], (Words{"once: loading", "once: loaded 1"}));
  for (const char* const rank : {"0", "1", "2", "3"}) {
    EXPECT_EQ(said[std::string("[") + rank + "]"], Words{std::string("rank ") + rank + ": loaded 2"}) << ended;
  }
  EXPECT_EQ(events("template_started").size(), 1U);
  EXPECT_EQ(report()["template"]["pid"], events("template_started").front()["pid"]);
  EXPECT_TRUE(report()["template"]["outcome"].is_null()) << "it lived to the end: " << report()["template"];
  EXPECT_EQ(report()["template"]["last_lines"], (Words{"once: loading", "once: loaded 1"}));
}

TEST_F(Template, TemplateItself_KnowsTheWorldButNoRank) {
  Command command =
      job(2, {"print", "FORKLIFT_TEMPLATE", "print", "WORLD_SIZE", "print", "LOCAL_WORLD_SIZE", "print", "RANK",
              "print", "LOCAL_RANK", "print", "GROUP_RANK", "fork", "print", "FORKLIFT_TEMPLATE"});
  command.environment["RANK"] = "77";  // Of an outer job.
  const Ended ended = run(command);
  ASSERT_EQ(ended.exit_code, 0) << ended;
  auto said = by_prefix(ended.out);
  ASSERT_EQ(said["[template]"].size(), 6U) << ended;
  said["[template]"].pop_back();
  EXPECT_EQ(said["[template]"], (Words{"once: FORKLIFT_TEMPLATE=1", "once: WORLD_SIZE=2", "once: LOCAL_WORLD_SIZE=2",
                                       "once: RANK unset", "once: LOCAL_RANK unset"}));
  EXPECT_EQ(said["[0]"], Words{"rank 0: FORKLIFT_TEMPLATE unset"});
  EXPECT_EQ(said["[1]"], Words{"rank 1: FORKLIFT_TEMPLATE unset"});
}

TEST_F(Template, WorldOfOne_WorksToo) {
  const Ended ended = run(job(1, {"print", "RANK", "say", "loading", "fork", "print", "RANK", "say", "running"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(sorted_lines(ended.out),
            (Words{"once: RANK unset", "once: loading", "rank 0: RANK unset", "rank 0: running"}));
}

TEST_F(Template, VariablesOfTheUser_ReachReplicasAsTheyAre) {
  Command command = job(2, {"fork", "print", "ODD", "print", "GIVEN"}, {"--env", "GIVEN=also this"});
  const std::string odd = "not \xff text, a\ttab and 'quotes' = \"double\"";
  command.environment["ODD"] = odd;
  const Ended ended = run(command);
  ASSERT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(by_prefix(ended.out)["[1]"], (Words{"rank 1: ODD=" + odd, "rank 1: GIVEN=also this"}));
}

TEST_F(Template, WithoutForkliftsTemplate_SameProgramRunsPerReplica) {
  const Words program{FORKLIFT_TEMPLATE_PROGRAM, "append", file("loads"), "fork", "print", "RANK"};
  const Ended spawned = run(launch(Words{"--num-processes", "2", "--no-python"} + program));
  EXPECT_EQ(sorted_lines(spawned.out), (Words{"[0] rank 0: RANK=0", "[1] rank 1: RANK=1"})) << spawned;
  EXPECT_EQ(lines_in("loads"), 2U);
  EXPECT_TRUE(report()["template"].is_null());
  Command alone = launch({});
  alone.argv = program;
  EXPECT_EQ(run(alone).out, "rank 0: RANK unset\n");
}

// ---- restarts -----------------------------------------------------------------------------------------------------

TEST_F(Template, Restart_ForksAgainFromTheLivingTemplate) {
  const Ended ended = run(job(3,
                              {"append", file("loads"), "shared", "fork", "shared", "print", "FORKLIFT_ATTEMPT",
                               "print", "TORCHELASTIC_RESTART_COUNT", "print", "MASTER_PORT", "fail-first", "1"},
                              {"--max-restarts", "2"}));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(lines_in("loads"), 1U) << "it was loaded again";
  EXPECT_EQ(events("template_started").size(), 1U);
  EXPECT_EQ(report()["attempts"].size(), 2U);
  EXPECT_EQ(report()["attempts"][0]["root_cause"]["rank"], 1);
  EXPECT_EQ(report()["replicas"][2]["attempt"], 1);
  std::set<std::string> ports;
  std::set<std::string> attempts;
  const auto said = by_prefix(ended.out);
  for (const std::string& line : said.at("[1]")) {
    if (line.find("MASTER_PORT=") != std::string::npos) ports.insert(line);
    if (line.find("ATTEMPT=") != std::string::npos || line.find("COUNT=") != std::string::npos) attempts.insert(line);
    if (line.find("loaded") != std::string::npos) {
      EXPECT_EQ(line, "rank 1: loaded 2");
    }
  }
  EXPECT_EQ(ports.size(), 2U) << "the second attempt has the port of the first: " << ended;
  EXPECT_EQ(attempts,
            (std::set<std::string>{"rank 1: FORKLIFT_ATTEMPT=0", "rank 1: FORKLIFT_ATTEMPT=1",
                                   "rank 1: TORCHELASTIC_RESTART_COUNT=0", "rank 1: TORCHELASTIC_RESTART_COUNT=1"}));
}

TEST_F(Template, BudgetSpent_EndsWithTheLastFailure) {
  const Ended ended = run(job(4, {"append", file("loads"), "fork", "exit", "5"}, {"--max-restarts", "3"}));
  EXPECT_EQ(ended.exit_code, 5) << ended;
  EXPECT_EQ(report()["attempts"].size(), 4U);
  EXPECT_EQ(lines_in("loads"), 1U);
}

// The template's child belongs to no attempt; a replica's does.
TEST_F(Template, ChildrenOfTheTemplate_OutliveAnAttemptAndEndWithTheRun) {
  RunningProcess running(job(2, {"child", "fork", "fail-first", "0", "child", "say", "up", "stop"},
                             {"--max-restarts", "1", "--shutdown-timeout", "0"}));
  ASSERT_TRUE(all_say(running, 2, "up"));
  // guard, supervisor, template and its child; two replicas with theirs.
  EXPECT_TRUE(eventually([this] { return marked_count_is(marker(), 8); }));
  EXPECT_EQ(events("attempt_started").size(), 2U);
  running.send(SIGTERM);
  EXPECT_EQ(running.wait().exit_code, 143);
  expect_nothing_left();
}

TEST_F(Template, ChildrenOfTheTemplate_AreNoLeftoversOfASuccess) {
  const Ended ended = run(job(2, {"child", "fork", "say", "done"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(report()["leftovers"].size(), 0U) << report()["leftovers"];
  expect_nothing_left();
}

TEST_F(Template, SessionThatAReplicaLeaves_IsNamedAndEnded) {
  const Ended ended = run(job(2, {"fork", "child"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(report()["leftovers"].size(), 2U) << report()["leftovers"];
  expect_nothing_left();
}

TEST_F(Template, SessionThatAFailedReplicaLeaves_IsGoneBeforeTheNextAttempt) {
  const Ended ended = run(job(2, {"orphan", "fork", "child", "orphan", "fail-first", "0"}, {"--max-restarts", "1"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(report()["attempts"].size(), 2U);
  expect_nothing_left();
}

// ---- streams ------------------------------------------------------------------------------------------------------

TEST_F(Template, Redirected_ReplicasWriteToTheirFilesAndTheTemplateToTheConsole) {
  const Ended ended =
      run(job(2, {"say", "loading", "err", "loading too\n", "fork", "say", "running", "err", "running too\n"},
              {"--redirects", "3"}));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(ended.out, "[template] once: loading\n");
  EXPECT_EQ(ended.err, "[template] loading too\n");
  for (const int rank : {0, 1}) {
    EXPECT_EQ(log(rank, "stdout.log"), "rank " + std::to_string(rank) + ": running\n");
    EXPECT_EQ(log(rank, "stderr.log"), "running too\n");
  }
}

TEST_F(Template, Teed_ReplicasWriteToBothInEveryAttempt) {
  const Ended ended = run(job(2, {"fork", "say", "running", "fail-first", "0"}, {"--tee", "3", "--max-restarts", "1"}));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(log(1, "stdout.log", 1), "rank 1: running\n");
  EXPECT_EQ(by_prefix(ended.out)["[1]"].back(), "rank 1: running");
}

// Text that waits in the template's buffers would otherwise be printed by every replica.
TEST_F(Template, UnfinishedLineAtTheForkPoint_IsPrintedOnceByTheTemplate) {
  const Ended ended = run(job(3, {"mutter", "half a line", "fork", "say", "whole"}));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(occurrences(ended.out, "half a line"), 1U) << ended;
  EXPECT_EQ(by_prefix(ended.out)["[template]"], Words{"once: half a line"});
  EXPECT_EQ(report()["template"]["last_lines"], Words{"once: half a line"});
}

TEST_F(Template, PipeOnStandardInput_IsReadByRankZeroOnly) {
  Command command = job(2, {"read", "fork", "read"});
  command.input = Input::pipe;
  RunningProcess running(command);
  running.write_input("from the pipe\n");
  running.close_input();
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(sorted_lines(ended.out),
            (Words{"[0] rank 0: read from the pipe", "[1] rank 1: read nothing", "[template] once: read nothing"}));
}

// The replicas' descriptors arrive under the numbers that the template has closed.
TEST_F(Template, StandardStreamsClosedByTheTemplate_AreThereInTheReplicas) {
  for (const Words& closed :
       {Words{"close", "0"}, Words{"close", "1"}, Words{"close", "2"}, Words{"close", "0", "close", "1"},
        Words{"close", "1", "close", "2"}, Words{"close", "0", "close", "1", "close", "2"}}) {
    SCOPED_TRACE(::testing::PrintToString(closed));
    Command command = job(2, closed + Words{"fork", "read", "say", "out", "err", "err\n"});
    command.input = Input::pipe;
    RunningProcess running(command);
    running.write_input("line\n");
    running.close_input();
    const Ended ended = running.wait();
    EXPECT_EQ(ended.exit_code, 0) << ended;
    EXPECT_EQ(sorted_lines(ended.out),
              (Words{"[0] rank 0: out", "[0] rank 0: read line", "[1] rank 1: out", "[1] rank 1: read nothing"}));
    EXPECT_EQ(sorted_lines(ended.err), (Words{"[0] err", "[1] err"}));
  }
}

// ---- placement, size ----------------------------------------------------------------------------------------------

TEST_F(Template, CpuBinding_IsThatOfSpawnedReplicas) {
  const Words flags{"--cpu", "--cpu-binding", "core"};
  const Ended forked = run(job(2, {"fork", "cpus"}, flags));
  ASSERT_EQ(forked.exit_code, 0) << forked;
  const Ended spawned =
      run(launch(flags + Words{"--num-processes", "2", "--no-python", FORKLIFT_TEMPLATE_PROGRAM, "fork", "cpus"}));
  EXPECT_EQ(sorted_lines(forked.out), sorted_lines(spawned.out));
  EXPECT_EQ(lines_of(forked.out).size(), 2U) << forked;
}

class TemplateSize : public Template, public ::testing::WithParamInterface<int> {};

TEST_P(TemplateSize, Launched_EveryReplicaRunsAndEnds) {
  const Ended ended = run(job(GetParam(), {"fork", "print", "RANK"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(outcomes(), Words(static_cast<std::size_t>(GetParam()), "exited 0"));
  std::set<std::string> lines;
  for (int rank = 0; rank < GetParam(); ++rank) {
    const std::string number = std::to_string(rank);
    lines.insert("[" + number + "] rank " + number + ": RANK=" + number);
  }
  const auto printed = lines_of(ended.out);
  EXPECT_EQ(std::set<std::string>(printed.begin(), printed.end()), lines);
  EXPECT_EQ(printed.size(), lines.size());
}

INSTANTIATE_TEST_SUITE_P(Sizes, TemplateSize, ::testing::Values(64, 500), ::testing::PrintToStringParamName());

// ---- what is said of it -------------------------------------------------------------------------------------------

TEST_F(Template, OtherThreads_AreNamedInAWarning) {
  const Ended ended = run(job(2, {"thread", "loader", "thread", "loader", "thread", "cache", "fork"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_NE(ended.err.find("3 threads beside the one that forks (cache, loader)"), std::string::npos) << ended;
}

TEST_F(Template, Heartbeat_IsShownOfTheCulprit) {
  const Ended ended = run(job(3, {"fork", "beat", "119", "beat", "120", "fail-first", "1", "stop"}));
  EXPECT_EQ(ended.exit_code, 9) << ended;
  EXPECT_NE(ended.err.find("last heartbeat: step 120, "), std::string::npos) << ended;
  EXPECT_NE(ended.err.find(" s before its end"), std::string::npos) << ended;
  const Json culprit = report()["replicas"][1];
  EXPECT_EQ(culprit["last_step"], 120);
  EXPECT_GE(culprit["last_beat_s"].get<double>(), culprit["started_s"].get<double>());
  EXPECT_LE(culprit["last_beat_s"].get<double>(), culprit["ended_s"].get<double>());
  const Ended shown = run(forklift({"report"}));
  EXPECT_NE(shown.out.find("last heartbeat: step 120, "), std::string::npos) << shown;
}

TEST_F(Template, HeartbeatOfAnEarlierAttempt_IsNotShown) {
  const Ended ended = run(job(2, {"fork", "beat-first", "7", "exit", "3"}, {"--max-restarts", "1"}));
  EXPECT_EQ(ended.exit_code, 3) << ended;
  EXPECT_EQ(report()["replicas"][0]["attempt"], 1);
  EXPECT_TRUE(report()["replicas"][0]["last_step"].is_null());
  EXPECT_TRUE(report()["replicas"][0]["last_beat_s"].is_null());
  EXPECT_EQ(ended.err.find("heartbeat"), std::string::npos) << ended;
}

TEST_F(Template, FailureInItsOwnWords_IsTheRootCause) {
  const Ended ended = run(job(2, {"fork", "fail", "DataError", "shard 7 is damaged"}));
  EXPECT_EQ(ended.exit_code, 1) << ended;
  EXPECT_NE(ended.err.find("DataError: shard 7 is damaged"), std::string::npos) << ended;
}

TEST_F(Template, ReportVerb_ShowsTheSameAgain) {
  const Ended ended = run(job(2, {"say", "loading", "fork", "fail-first", "1", "stop"}));
  EXPECT_EQ(ended.exit_code, 9) << ended;
  const Ended shown = run(forklift({"report"}));
  EXPECT_NE(ended.err.find(shown.out), std::string::npos) << ended << shown;
  EXPECT_EQ(Json::parse(run(forklift({"report", "--format", "json"})).out, nullptr, false), report());
}

TEST_F(Template, DryRun_StartsNothing) {
  const Ended ended = run(job(2, {"append", file("loads"), "fork"}, {"--dry-run"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_NE(ended.out.find("template"), std::string::npos) << ended;
  EXPECT_EQ(lines_in("loads"), 0U);
}

}  // namespace
}  // namespace forklift
