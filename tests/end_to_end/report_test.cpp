// report.json, events.jsonl and `forklift report` of real runs.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/end_to_end/job_test.hpp"
#include "tests/support/child_command.hpp"

namespace forklift {
namespace {

using support::child;
using support::Ended;
using support::Json;
using support::lines_of;
using support::Words;
using support::operator+;

class Report : public support::JobTest {
 protected:
  [[nodiscard]] std::vector<Json> events() const {
    std::vector<Json> all;
    for (const std::string& line : lines_of(support::read_text(run_directory() / "events.jsonl")))
      all.push_back(Json::parse(line, nullptr, false));
    return all;
  }
  [[nodiscard]] std::vector<std::string> names_of_events() const {
    std::vector<std::string> names;
    for (const Json& event : events()) names.push_back(event.value("event", "?"));
    return names;
  }
  /// A job of two: rank 0 waits, rank 1 runs `commands` of the shell.
  [[nodiscard]] support::Command rank_one_does(const std::string& commands) const {
    const auto script = scratch().write(
        "job.sh", "[ \"$RANK\" = 0 ] && exec " FORKLIFT_CHILD_PROGRAM " ready-then-hold\n" + commands + "\n");
    return launch({"--num-processes", "2", "--no-python", "/bin/sh", script});
  }
  void expect_cause(int rank, const std::string& category) const {
    const Json cause = report()["root_cause"];
    ASSERT_TRUE(cause.is_object()) << report().dump(2);
    EXPECT_EQ(cause["rank"], rank);
    EXPECT_EQ(cause["category"], category) << cause.dump(2);
  }
};

TEST_F(Report, Success_HasEveryKey) {
  const Ended ended = support::run(launch(Words{"--num-processes", "2"} + child("print", {"hello\n", "bye\n"})));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  const Json whole = report();
  EXPECT_EQ(whole["version"], 1);
  EXPECT_EQ(whole["run_id"], run_directory().filename().string());
  EXPECT_EQ(whole["command"][0], FORKLIFT_BINARY);
  EXPECT_EQ(whole["exit_status"], 0);
  EXPECT_EQ(whole["result"], "succeeded");
  EXPECT_EQ(whole["root_cause"], nullptr);
  EXPECT_EQ(whole["model"], nullptr);
  EXPECT_EQ(whole["leftovers"], Json::array());
  EXPECT_EQ(whole["attempts"].size(), 1U);
  ASSERT_EQ(whole["replicas"].size(), 2U);
  const Json& second = whole["replicas"][1];
  EXPECT_EQ(second["rank"], 1);
  EXPECT_EQ(second["attempt"], 0);
  EXPECT_EQ(second["outcome"], (Json{{"kind", "exited"}, {"exit_code", 0}}));
  EXPECT_EQ(second["role"], "succeeded");
  EXPECT_EQ(second["last_lines"], Json({"bye"}));
  EXPECT_LE(second["started_s"], second["ended_s"]);
  EXPECT_EQ(whole["started"].get<std::string>().substr(10, 1), "T");
}

TEST_F(Report, Success_PrintsNothing) {
  EXPECT_EQ(support::run(launch({"--num-processes", "2", "/bin/true"})).err, "");
}

TEST_F(Report, Events_TellTheRunInOrder) {
  ASSERT_EQ(support::run(launch({"--num-processes", "1", "/bin/true"})).exit_code, 0);
  EXPECT_EQ(names_of_events(), (Words{"run_started", "attempt_started", "replica_started", "replica_exited",
                                      "attempt_ended", "run_ended"}));
  std::int64_t last = 0;
  int number = 0;
  for (const Json& event : events()) {
    EXPECT_EQ(event["v"], 1);
    EXPECT_EQ(event["seq"], number++);
    EXPECT_LE(last, event["mono_ns"].get<std::int64_t>());
    last = event["mono_ns"];
  }
}

TEST_F(Report, OneReplicaFails_IsTheCauseAndTheOtherIsCollateral) {
  const Ended ended = support::run(rank_one_does("echo 'no licence for rank 1' >&2; exit 3"));
  EXPECT_EQ(ended.exit_code, 3);
  expect_cause(1, "exit_code");
  EXPECT_EQ(report()["result"], "failed");
  EXPECT_EQ(report()["replicas"][0]["role"], "collateral");
  EXPECT_EQ(report()["replicas"][1]["role"], "root_cause");
  EXPECT_TRUE(ended.err.find("forklift: Rank 1 ") != std::string::npos) << ended;
  EXPECT_NE(ended.err.find("[rank 1] no licence for rank 1"), std::string::npos) << ended;
}

TEST_F(Report, StoppedFromOutside_IsInterruptedAndNobodysFault) {
  support::RunningProcess job(launch(Words{"--num-processes", "2"} + child("ready-then-hold")));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  job.send(SIGTERM);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(report()["result"], "interrupted");
  EXPECT_EQ(report()["root_cause"], nullptr);
  EXPECT_EQ(report()["stop_signal"], SIGTERM);
  for (const Json& replica : report()["replicas"]) EXPECT_EQ(replica["role"], "collateral");
}

// ---- categories ---------------------------------------------------------------------------------------------------

TEST_F(Report, SegmentationFault_HasItsNameAndTheCoreFlag) {
  const Ended ended = support::run(rank_one_does("exec " FORKLIFT_CHILD_PROGRAM " raise-without-core SEGV"));
  EXPECT_EQ(ended.exit_code, 139) << ended;
  expect_cause(1, "segmentation_fault");
  EXPECT_EQ(report()["root_cause"]["outcome"],
            (Json{{"kind", "signalled"}, {"signal", SIGSEGV}, {"signal_name", "SIGSEGV"}, {"core_dumped", false}}));
}

TEST_F(Report, AbortWithCores_HasTheCoreFlagTheKernelGave) {
  support::Command command =
      prepared_by("ulimit -c unlimited 2>/dev/null", rank_one_does("exec " FORKLIFT_CHILD_PROGRAM " raise ABRT"));
  command.working_directory = scratch().path();  // Where a core file would go.
  const Ended ended = support::run(command);
  EXPECT_EQ(ended.exit_code, 134) << ended;
  expect_cause(1, "abort");
  EXPECT_TRUE(report()["root_cause"]["outcome"]["core_dumped"].is_boolean());
}

TEST_F(Report, KilledBySomebody_IsKilledFromOutside) {
  support::RunningProcess job(launch(Words{"--num-processes", "2"} + child("ready-then-hold")));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  int victim = 0;
  ASSERT_TRUE(support::eventually([&] {
    for (const Json& event : events()) {
      if (event.value("event", "") == "replica_started" && event["rank"] == 1) victim = event["pid"];
    }
    return victim != 0;
  }));
  ASSERT_EQ(::kill(victim, SIGKILL), 0);
  EXPECT_EQ(job.wait().exit_code, 137);
  expect_cause(1, "killed_from_outside");
}

TEST_F(Report, PythonException_HasItsTraceback) {
  const auto script =
      scratch().write("train.py", "import os\nif os.environ['RANK'] == '1':\n  raise ValueError('bad shard')\n");
  const Ended ended = support::run(launch({"--python", "/usr/bin/python3", "--num-processes", "2", script}));
  if (ended.exit_code == 127) GTEST_SKIP() << "there is no /usr/bin/python3";
  EXPECT_EQ(ended.exit_code, 1) << ended;
  expect_cause(1, "python_exception");
  EXPECT_NE(report()["root_cause"]["traceback"].get<std::string>().find("ValueError: bad shard"), std::string::npos);
}

TEST_F(Report, EveryReplicaRaisesTheSame_IsSaidOfAll) {
  // Ranks 1 and 2 fail only when forklift has asked them to stop, and rank 0 only when they are ready for that.
  const auto script = scratch().write("train.py", R"(import os, signal, sys, time
rank, folder, asked = os.environ['RANK'], sys.argv[1], []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
open(folder + '/ready' + rank, 'w').close()
def begun(): return all(os.path.exists(folder + '/ready' + other) for other in '12')
while not (begun() if rank == '0' else asked): time.sleep(0.01)
raise ValueError('bad shard of rank ' + rank)
)");
  const Ended ended =
      support::run(launch({"--python", "/usr/bin/python3", "--num-processes", "3", script, scratch().path().string()}));
  if (ended.exit_code == 127) GTEST_SKIP() << "there is no /usr/bin/python3";
  EXPECT_EQ(ended.exit_code, 1) << ended;
  expect_cause(0, "python_exception");
  EXPECT_NE(ended.err.find("ranks 1-2: raised the same error\n"), std::string::npos) << ended;
  EXPECT_EQ(report()["replicas"][2]["role"], "failed_alike");
}

TEST_F(Report, PeerLeftWithSuccess_IsTheLikelyCause) {
  // Rank 1 fails when rank 0 is gone from the table of processes, that is when forklift has taken its end.
  const auto script = scratch().write("train.py", R"(import os, sys, time
path = sys.argv[1] + '/pid'
if os.environ['RANK'] == '0':
    with open(path + '.new', 'w') as file: file.write(str(os.getpid()))
    os.rename(path + '.new', path)
    sys.exit(0)
while not os.path.exists(path): time.sleep(0.01)
while os.path.exists('/proc/' + open(path).read()): time.sleep(0.01)
raise RuntimeError('Connection closed by peer')
)");
  const Ended ended =
      support::run(launch({"--python", "/usr/bin/python3", "--num-processes", "2", script, scratch().path().string()}));
  if (ended.exit_code == 127) GTEST_SKIP() << "there is no /usr/bin/python3";
  EXPECT_EQ(ended.exit_code, 1) << ended;
  EXPECT_NE(ended.err.find("lost a peer: likely rank 0"), std::string::npos) << ended;
}

// ---- forklift report ----------------------------------------------------------------------------------------------

TEST_F(Report, ReportVerb_ShowsTheLastRunAgain) {
  const Ended run = support::run(rank_one_does("exit 3"));
  const Ended shown = support::run(forklift({"report"}));
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_NE(run.err.find(shown.out), std::string::npos) << "the run said: " << run << "\nthe report says: " << shown;
  EXPECT_EQ(support::run(forklift({"report", "last"})).out, shown.out);
  EXPECT_EQ(support::run(forklift({"report", run_directory().filename()})).out, shown.out);
  EXPECT_EQ(support::run(forklift({"report", run_directory()})).out, shown.out);
}

TEST_F(Report, ReportVerbAsJson_IsTheFile) {
  ASSERT_EQ(support::run(launch({"--num-processes", "2", "/bin/true"})).exit_code, 0);
  const Ended shown = support::run(forklift({"report", run_directory().filename(), "--format", "json"}));
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_EQ(Json::parse(shown.out, nullptr, false), report());
}

TEST_F(Report, RunInALogDirectory_IsFoundByItsId) {
  ASSERT_EQ(support::run(launch({"--log-dir", scratch() / "logs", "--num-processes", "2", "/bin/true"})).exit_code, 0);
  const Ended shown = support::run(forklift({"report", run_directory().filename(), "--format", "json"}));
  EXPECT_EQ(shown.exit_code, 0) << shown;
  EXPECT_EQ(Json::parse(shown.out, nullptr, false), report());
}

TEST_F(Report, UnknownRun_IsWrongUsage) {
  const Ended shown = support::run(forklift({"report", "20260101-000000-abcdef"}));
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_EQ(lines_of(shown.err).size(), 1U);
}

TEST_F(Report, NoRunYet_IsWrongUsageInOneSentence) {
  const Ended shown = support::run(forklift({"report"}));
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_NE(shown.err.find("no run has been made yet"), std::string::npos) << shown;
  EXPECT_EQ(lines_of(shown.err).size(), 1U);
}

TEST_F(Report, WrongFormat_IsRefusedByEveryVerb) {
  for (const char* verb : {"env", "report", "estimate"}) {
    const Ended shown = support::run(forklift({verb, "--format", "yaml"}));
    EXPECT_EQ(shown.exit_code, 2) << shown;
    EXPECT_EQ(shown.err, "forklift: " + std::string(verb) + ": --format: got 'yaml', expected text or json\n");
  }
}

TEST_F(Report, HelpOfAVerb_IsThatOfItsOption) {
  for (const char* verb : {"launch", "report", "estimate", "env"}) {
    const Ended shown = support::run(forklift({"help", verb}));
    EXPECT_EQ(shown.exit_code, 0) << shown;
    EXPECT_EQ(shown.out, support::run(forklift({verb, "--help"})).out);
  }
  EXPECT_EQ(support::run(forklift({"help"})).out, support::run(forklift({"--help"})).out);
  EXPECT_EQ(support::run(forklift({"help", "lunch"})).exit_code, 2);
}

TEST_F(Report, ReportJsonIsMissing_IsRebuiltFromTheEvents) {
  ASSERT_EQ(support::run(rank_one_does("exit 3")).exit_code, 3);
  std::filesystem::remove(run_directory() / "report.json");
  const Ended shown = support::run(forklift({"report", "--format", "json"}));
  EXPECT_EQ(shown.exit_code, 0) << shown;
  const Json rebuilt = Json::parse(shown.out, nullptr, false);
  ASSERT_EQ(rebuilt["replicas"].size(), 2U);
  EXPECT_EQ(rebuilt["replicas"][1]["outcome"], (Json{{"kind", "exited"}, {"exit_code", 3}}));
}

}  // namespace
}  // namespace forklift
