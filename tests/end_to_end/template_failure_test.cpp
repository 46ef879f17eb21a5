// A template that does not get its replicas going: it fails while it loads, never forks, or the machine refuses.
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/end_to_end/template_job.hpp"

namespace forklift {
namespace {

using namespace support;

/// Nobody else on the machine has this number, so a limit on processes counts only ours.
constexpr uid_t lonely_user = 61235;

class FailingTemplate : public TemplateTest {
 protected:
  /// The template is to blame, and no replica was born.
  void expect_blamed_template(const Ended& ended, int exit_code) const {
    SCOPED_TRACE(::testing::Message() << ended);
    EXPECT_EQ(ended.exit_code, exit_code);
    const Json whole = report();
    ASSERT_TRUE(whole.is_object());
    EXPECT_EQ(whole["exit_status"], exit_code);
    EXPECT_TRUE(whole["root_cause"].is_object());
    EXPECT_TRUE(whole["root_cause"]["rank"].is_null());
    EXPECT_EQ(whole["root_cause"]["pid"], whole["template"]["pid"]);
    EXPECT_EQ(whole["root_cause"]["outcome"], whole["template"]["outcome"]);
    EXPECT_NE(ended.err.find("forklift: The template (pid "), std::string::npos);
    for (const Json& replica : whole["replicas"]) EXPECT_EQ(replica["pid"], 0);
    EXPECT_NE(ended.err.find("never started"), std::string::npos);
    EXPECT_EQ(ended.err.find("rank -1"), std::string::npos);
    EXPECT_EQ(events("replica_started").size(), 0U);
  }

  void let_everybody_write() const {
    for (const auto& place : {scratch().path(), state(), temporary()}) {
      std::filesystem::permissions(place, std::filesystem::perms::all);
    }
  }
};

// ---- while it loads -----------------------------------------------------------------------------------------------

TEST_F(FailingTemplate, ExitCode_IsThatOfTheJobWithItsLastWords) {
  const Ended ended = run(job(3, {"err", "cannot open the model\n", "exit", "7"}));
  expect_blamed_template(ended, 7);
  EXPECT_NE(ended.err.find("  [template] cannot open the model"), std::string::npos) << ended;
  EXPECT_EQ(report()["template"]["last_lines"], Words{"cannot open the model"});
  EXPECT_EQ(report()["root_cause"]["category"], "exit_code");
}

TEST_F(FailingTemplate, Signal_IsThatOfTheJob) {
  const Ended ended = run(job(3, {"err", "loading\n", "raise", std::to_string(SIGSEGV)}));
  expect_blamed_template(ended, 128 + SIGSEGV);
  EXPECT_EQ(report()["root_cause"]["category"], "segmentation_fault");
  EXPECT_NE(ended.err.find("  [template] loading"), std::string::npos) << ended;
}

TEST_F(FailingTemplate, PythonsTraceback_IsReadAndShownWhole) {
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    model = load()\n"
      "FileNotFoundError: [Errno 2] No such file or directory: 'model.safetensors'\n";
  const Ended ended = run(job(2, {"err", traceback, "exit", "1"}));
  expect_blamed_template(ended, 1);
  EXPECT_EQ(report()["root_cause"]["category"], "python_exception");
  EXPECT_NE(report()["root_cause"]["traceback"].get<std::string>().find("line 3, in <module>"), std::string::npos);
  EXPECT_NE(ended.err.find("  [template]     model = load()"), std::string::npos) << ended;
}

TEST_F(FailingTemplate, NoForkPoint_IsWrongUsageAndSaysWhatIsMissing) {
  const Ended ended = run(job(2, {"say", "all done"}));
  expect_blamed_template(ended, 2);
  EXPECT_NE(ended.err.find("ended without reaching its fork point"), std::string::npos) << ended;
  EXPECT_NE(ended.err.find("Call forklift::fork_point()"), std::string::npos) << ended;
  EXPECT_EQ(report()["root_cause"]["category"], "failed_to_start");
}

TEST_F(FailingTemplate, ProgramThatIsNoTemplateAtAll_IsWrongUsage) {
  const Ended ended = run(launch({"--template", "--num-processes", "2", "--no-python", "/bin/true"}));
  expect_blamed_template(ended, 2);
}

TEST_F(FailingTemplate, NoSuchProgram_IsRefusedBeforeAnythingStarts) {
  const Ended ended = run(launch({"--template", "--num-processes", "2", "--no-python", "/no/such/program"}));
  EXPECT_EQ(ended.exit_code, 127) << ended;
}

TEST_F(FailingTemplate, FailureWithRestartsLeft_LoadsAgain) {
  const Ended ended =
      run(job(3, {"append", file("loads"), "fail-unless", file("loaded-once"), "fork", "print", "FORKLIFT_ATTEMPT"},
              {"--max-restarts", "2"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(lines_in("loads"), 2U);
  EXPECT_EQ(events("template_started").size(), 2U);
  EXPECT_EQ(occurrences(ended.out, "FORKLIFT_ATTEMPT=1"), 3U) << ended;
  EXPECT_TRUE(report()["attempts"][0]["root_cause"]["rank"].is_null());
  EXPECT_TRUE(report()["attempts"][1]["root_cause"].is_null());
}

TEST_F(FailingTemplate, FailureWithoutRestartsLeft_IsTheLastOne) {
  const Ended ended = run(job(3, {"append", file("loads"), "exit", "7"}, {"--max-restarts", "2"}));
  expect_blamed_template(ended, 7);
  EXPECT_EQ(lines_in("loads"), 3U);
  EXPECT_EQ(report()["attempts"].size(), 3U);
}

TEST_F(FailingTemplate, Restart_IsMadeFromAFreshTemplateWhereTheOldOneIsGone) {
  RunningProcess running(job(2, {"append", file("loads"), "fork", "say", "up", "wait", file("go"), "fail-first", "0"},
                             {"--max-restarts", "1"}));
  ASSERT_TRUE(all_say(running, 2, "up"));
  ::kill(template_pid(), SIGKILL);
  ASSERT_TRUE(eventually([this] { return events_reach("template_ended", 1); }));
  EXPECT_TRUE(running.wait_for_err("the template has ended while its replicas run"));
  EXPECT_EQ(events("replica_exited").size(), 0U) << "the job goes on";
  scratch().write("go", "");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(lines_in("loads"), 2U);
  EXPECT_EQ(events("template_started").size(), 2U);
  EXPECT_EQ(report()["attempts"].size(), 2U);
}

TEST_F(FailingTemplate, KilledWhileItsReplicasRun_TheyEndAsIfNothingHadHappened) {
  RunningProcess running(job(2, {"child", "fork", "say", "up", "wait", file("go")}));
  ASSERT_TRUE(all_say(running, 2, "up"));
  ::kill(template_pid(), SIGKILL);
  ASSERT_TRUE(eventually([this] { return events_reach("template_ended", 1); }));
  scratch().write("go", "");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(report()["template"]["outcome"]["signal"], SIGKILL);
  EXPECT_TRUE(report()["root_cause"].is_null());
}

TEST_F(FailingTemplate, SecondForkPoint_IsAnErrorInTheReplica) {
  const Ended ended = run(job(2, {"fork", "fork-twice"}));
  EXPECT_EQ(ended.exit_code, 97) << ended;
  EXPECT_NE(ended.err.find("forklift::fork_point() was called a second time"), std::string::npos) << ended;
}

// A batch system may signal every process of a job by itself, the template before us.
TEST_F(FailingTemplate, TerminationOfTemplateAndGuardTogether_IsAStopFromOutside) {
  RunningProcess running(job(3, {"say", "loading", "stop"}));
  ASSERT_TRUE(running.wait_for_out("loading"));
  ::kill(template_pid(), SIGTERM);
  running.send(SIGTERM);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(report()["result"], "interrupted") << ended;
}

TEST_F(FailingTemplate, TerminationOfTheTemplateAlone_IsItsFailure) {
  RunningProcess running(job(3, {"say", "loading", "stop"}));
  ASSERT_TRUE(running.wait_for_out("loading"));
  ::kill(template_pid(), SIGTERM);
  const Ended ended = running.wait();
  expect_blamed_template(ended, 143);
  EXPECT_EQ(report()["result"], "failed");
}

// ---- a machine that refuses ---------------------------------------------------------------------------------------

class TemplateWithFewDescriptors : public FailingTemplate, public ::testing::WithParamInterface<int> {};

// Too few for the supervisor, for the template, in the middle of the requests, and while the replicas say who they are.
TEST_P(TemplateWithFewDescriptors, Launched_NamesTheLimitAndLeavesNothing) {
  const std::string limit = std::to_string(GetParam());
  const Ended ended = run(prepared_by("ulimit -n " + limit, job(40, {"fork", "stop"})));
  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 125);
  EXPECT_TRUE(lines_of(ended.err).front().starts_with("forklift: "));
  EXPECT_NE(lines_of(ended.err).front().find("open files"), std::string::npos);
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Limits, TemplateWithFewDescriptors,
                         ::testing::Values(10, 14, 16, 18, 20, 21, 22, 23, 24, 25, 26, 28, 32, 40, 64, 100, 140),
                         ::testing::PrintToStringParamName());

class TemplateWithFewProcesses : public FailingTemplate, public ::testing::WithParamInterface<int> {};

// 2: no template; 3: it cannot fork at all; 4 to 9: in the middle of the forks.
TEST_P(TemplateWithFewProcesses, Launched_NamesTheLimitAndLeavesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user whose processes nobody else counts in";
  if (!may_be_run_by(lonely_user)) GTEST_SKIP() << "an ordinary user may not run " << FORKLIFT_BINARY;
  let_everybody_write();
  Command command = prepared_by("ulimit -u " + std::to_string(GetParam()), job(12, {"fork", "stop"}));
  command.user = lonely_user;
  const Ended ended = run(command);
  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 125);
  EXPECT_NE(lines_of(ended.err).front().find("limit of processes"), std::string::npos);
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Limits, TemplateWithFewProcesses, ::testing::Values(2, 3, 4, 5, 6, 9, 12),
                         ::testing::PrintToStringParamName());

TEST_F(FailingTemplate, TemplateWithoutFreeDescriptors_FailsItsReplicas) {
  // The socket and the standard streams are there, and one number more: too few for what a replica is given.
  const Ended ended = run(job(3, {"files", "6", "fork", "stop"}));
  EXPECT_EQ(ended.exit_code, 125) << ended;
  EXPECT_EQ(lines_of(ended.err).front(),
            "forklift: Rank 0 could not be started: the limit of open files per process was reached.")
      << ended;
  expect_nothing_left();
}

TEST_F(FailingTemplate, OrdinaryUser_HasTheSame) {
  if (::getuid() != 0) GTEST_SKIP() << "the tester is an ordinary user already";
  give_scratch_to(nobody);
  if (!may_be_run_by(nobody)) GTEST_SKIP() << "an ordinary user may not run " << FORKLIFT_BINARY;
  Command command =
      job(20, {"append", file("loads"), "child", "fork", "child", "fail-first", "3"}, {"--max-restarts", "1"});
  command.user = nobody;
  const Ended ended = run(command);
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(lines_in("loads"), 1U);
  EXPECT_EQ(report()["attempts"].size(), 2U);
  expect_nothing_left();
}

// An ordinary user may have no more descriptors on their way than open files; the requests wait then.
TEST_F(FailingTemplate, OrdinaryUserWithFewDescriptorsOnTheirWay_OnlyWaits) {
  if (::getuid() != 0) GTEST_SKIP() << "the tester is an ordinary user already";
  give_scratch_to(nobody);
  if (!may_be_run_by(nobody)) GTEST_SKIP() << "an ordinary user may not run " << FORKLIFT_BINARY;
  Command command = prepared_by("ulimit -n 400", job(100, {"fork", "print", "RANK"}, {"--redirects", "3"}));
  command.user = nobody;
  const Ended ended = run(command);
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(outcomes(), Words(100, "exited 0"));
}

}  // namespace
}  // namespace forklift
