// What a job survives, and what does not survive the job: odd surroundings, lost readers, daemons, the first process
// of a container, and the death of the guard or the supervisor.
#include <signal.h>
#include <unistd.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift {
namespace {

using namespace support;

class Survival : public SupervisedJobTest {
 protected:
  void expect_nothing_left() const {
    EXPECT_TRUE(eventually([this] { return marked_count_is(marker(), 0); }));
  }
};

// ---- what a job leaves ----

TEST_F(Survival, DaemonAfterSuccess_IsNamedAndEnded) {
  const std::string pid_file = (scratch() / "daemon").string();
  const Ended ended = run(launch(child("daemonize", {pid_file, "leave"})));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  ASSERT_EQ(report()["leftovers"].size(), 1U) << report().dump(1);
  EXPECT_EQ(report()["leftovers"][0]["pid"], std::stoi(read_text(pid_file)));
  EXPECT_NE(ended.err.find(read_text(pid_file)), std::string::npos) << ended;
  expect_nothing_left();
}

TEST_F(Survival, DaemonAfterQuietSuccess_IsNamedInTheReportOnly) {
  const std::string pid_file = (scratch() / "daemon").string();
  const Ended ended = run(launch(Words{"--quiet"} + child("daemonize", {pid_file, "leave"})));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(report()["leftovers"].size(), 1U) << report().dump(1);
}

TEST_F(Survival, ProcessesInOwnSessionsAfterFailure_AreEnded) {
  const Words program =
      shell(std::string("setsid ") + FORKLIFT_CHILD_PROGRAM + " block TERM & [ $RANK = 0 ] || exit 3; wait");
  const Ended ended = run(launch(replicas(2, program)));
  EXPECT_EQ(ended.exit_code, 3) << ended;
  expect_nothing_left();
}

// ---- guard and supervisor ----

TEST_F(Survival, SupervisorKilled_GuardEndsTheJobAndTheReportIsRebuilt) {
  RunningProcess job(launch(replicas(2, child("setsid-child"))));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  ::kill(supervisor_pid(), SIGKILL);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 125) << ended;
  EXPECT_NE(ended.err.find("was killed by SIGKILL"), std::string::npos) << ended;
  expect_nothing_left();
  const Ended shown = run(forklift({"report", "last", "--format", "json"}));
  EXPECT_EQ(shown.exit_code, 0) << shown;
  const Json rebuilt = Json::parse(shown.out, nullptr, false);
  ASSERT_TRUE(rebuilt.is_object()) << shown;
  EXPECT_EQ(rebuilt["result"], "failed");
  EXPECT_EQ(rebuilt["ended_by"], "launcher");
  EXPECT_NE(run(forklift({"report"})).out.find("forklift itself was killed"), std::string::npos);
  ASSERT_EQ(rebuilt["replicas"].size(), 2U);
  for (const Json& replica : rebuilt["replicas"]) EXPECT_EQ(replica["outcome"]["kind"], "lost") << replica;
}

TEST_F(Survival, GuardKilled_SupervisorEndsTheJob) {
  RunningProcess job(launch(replicas(2, child("setsid-child"))));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  job.send(SIGKILL);
  job.wait();
  expect_nothing_left();
  EXPECT_EQ(report()["result"], "failed");
  EXPECT_EQ(report()["ended_by"], "launcher");
}

TEST_F(Survival, GuardKilledAfterARestart_DoesNotBlameTheEarlierAttempt) {
  const std::string program = "[ $TORCHELASTIC_RESTART_COUNT = 1 ] || exit 9; echo second; exec sleep 1000";
  RunningProcess job(launch(Words{"--max-restarts", "1"} + replicas(2, shell(program))));
  ASSERT_TRUE(job.wait_for_out("[0] second"));
  ASSERT_TRUE(job.wait_for_out("[1] second"));
  job.send(SIGKILL);
  job.wait();
  expect_nothing_left();
  const Json whole = report();
  EXPECT_EQ(whole["ended_by"], "launcher");
  EXPECT_TRUE(whole["root_cause"].is_null()) << whole["root_cause"];
  ASSERT_EQ(whole["attempts"].size(), 2U);
  EXPECT_FALSE(whole["attempts"][0]["root_cause"].is_null());
}

TEST_F(Survival, ReportOfARunThatGoesOn_SaysSo) {
  // A template as well: what is forked from it must not keep the run alive.
  const std::vector<Words> jobs{replicas(2, child("setsid-child")),
                                Words{"--template"} + replicas(2, {FORKLIFT_TEMPLATE_PROGRAM, "fork", "say", "ready",
                                                                   "wait", (scratch() / "never").string()})};
  for (const Words& words : jobs) {
    RunningProcess job(launch(words));
    ASSERT_TRUE(job.wait_for_out("[0] r"));
    ASSERT_TRUE(job.wait_for_out("[1] r"));
    const Ended shown = run(forklift({"report", "--format", "json"}));
    EXPECT_EQ(shown.exit_code, 0) << shown;
    const Json whole = Json::parse(shown.out, nullptr, false);
    ASSERT_TRUE(whole.is_object()) << shown;
    EXPECT_EQ(whole["result"], "running");
    EXPECT_EQ(whole["launcher_pid"], job.pid());
    EXPECT_EQ(whole["replicas"].at(1)["role"], "running");
    const Ended text = run(forklift({"report"}));
    EXPECT_NE(text.out.find("still running"), std::string::npos) << text;
    EXPECT_NE(text.out.find(std::to_string(job.pid())), std::string::npos) << text;
    ::kill(supervisor_pid(), SIGKILL);
    job.wait();
    EXPECT_NE(run(forklift({"report"})).out.find("forklift itself was killed"), std::string::npos);
  }
}

// ---- odd surroundings ----

TEST_F(Survival, ReaderOfOutputCloses_JobGoesOnAndSucceeds) {
  Command command = launch(replicas(2, child("write-lines", {"50000", "80"})));
  command.argv = Words{"bash", "-c", "\"$@\" | head -n 1; echo status ${PIPESTATUS[0]}", "bash"} + command.argv;
  const Ended ended = run(command);
  EXPECT_NE(ended.out.find("status 0\n"), std::string::npos) << ended;
  EXPECT_EQ(outcomes(), (Words{"exited 0", "exited 0"}));
}

TEST_F(Survival, StandardStreamsClosed_JobRuns) {
  const std::string file = (scratch() / "rank-").string();
  for (const char* const closing : {"exec <&-", "exec >&- 2>&-", "exec <&- >&- 2>&-"}) {
    SCOPED_TRACE(closing);
    // What the replicas print must not end up in a file of forklift's that got the number 1 or 2.
    const Ended ended =
        run(prepared_by(closing, launch(replicas(2, shell("echo $RANK; echo $RANK > " + file + "$RANK")))));
    EXPECT_EQ(ended.exit_code, 0) << ended;
    EXPECT_EQ(read_text(file + "0") + read_text(file + "1"), "0\n1\n");
    EXPECT_EQ(events("replica_exited").size(), 2U);
    EXPECT_EQ(report()["result"], "succeeded");
  }
}

TEST_F(Survival, WorkingDirectoryRemoved_JobRuns) {
  const std::string folder = (scratch() / "gone").string();
  const Ended ended =
      run(prepared_by("mkdir " + folder + "; cd " + folder + "; rmdir " + folder, launch(replicas(2, {"/bin/true"}))));
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

// ---- the first process of a container ----

class FirstProcess : public Survival {
 protected:
  void SetUp() override {
    const Ended tried = run(in_container({"/bin/true"}));
    if (tried.exit_code != 0) GTEST_SKIP() << "this machine allows no pid namespace: " << tried.err;
  }

  /// The command as process 1 of a pid namespace.
  [[nodiscard]] Command in_container(const Words& argv) const {
    Command command = launch({});
    command.argv = Words{"unshare"} + (::getuid() == 0 ? Words{} : Words{"--user", "--map-root-user"}) +
                   Words{"--pid", "--fork", "--mount-proc", "--kill-child"} + argv;
    return command;
  }

  /// The job's guard, as seen from outside of the namespace.
  [[nodiscard]] int guard_pid() const {
    int found = 0;
    EXPECT_TRUE(eventually([&] {
      for (const int pid : marked_processes(marker())) {
        if (process_name(pid) == "forklift") found = pid;
      }
      return found != 0;
    }));
    return found;
  }

  static std::vector<std::string> children_of(int pid) {
    std::istringstream words(read_text("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children"));
    return {std::istream_iterator<std::string>(words), {}};
  }
};

TEST_F(FirstProcess, ExitStatusesOfJobs_ArePassedOn) {
  EXPECT_EQ(run(in_container(launch(replicas(2, {"/bin/true"})).argv)).exit_code, 0);
  EXPECT_EQ(run(in_container(launch(replicas(2, shell("exit $((RANK * 6))"))).argv)).exit_code, 6);
}

// The kernel does not let process 1 die of a signal.
TEST_F(FirstProcess, InterruptedJob_IsExitStatus130) {
  RunningProcess container(in_container(launch(replicas(2, child("ready-then-hold"))).argv));
  ASSERT_TRUE(container.wait_for_out("[0] ready"));
  ASSERT_TRUE(container.wait_for_out("[1] ready"));
  ::kill(guard_pid(), SIGINT);
  const Ended ended = container.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended;
}

TEST_F(FirstProcess, StrangersThatBecomeItsChildren_AreReaped) {
  if (::getuid() != 0) GTEST_SKIP() << "entering the namespace from outside needs root";
  RunningProcess container(in_container(launch(replicas(1, child("ready-then-hold"))).argv));
  ASSERT_TRUE(container.wait_for_out("ready"));
  const int guard = guard_pid();
  Command visit = launch({});
  visit.argv = {
      "nsenter", "--pid", "--target", std::to_string(guard), "sh", "-c", "exec 3<&0; cat <&3 >/dev/null 2>&1 &"};
  visit.input = Input::pipe;
  RunningProcess visitor(visit);
  EXPECT_EQ(visitor.wait_for_exit().exit_code, 0);
  EXPECT_TRUE(eventually([&] { return children_of(guard).size() == 2; })) << "the stranger is not its child";
  visitor.close_input();
  EXPECT_TRUE(eventually([&] { return children_of(guard).size() == 1; })) << "the stranger was not reaped";
  ::kill(guard, SIGTERM);
  EXPECT_EQ(container.wait().exit_code, 143);
}

// Kubernetes shows this file when a container has ended. A /dev of the test's own, in a mount namespace of its own.
TEST_F(FirstProcess, TerminationLogOfFailedJob_HasTheReport) {
  const std::string devices = (scratch() / "dev").string();
  const std::string log = devices + "/termination-log";
  std::filesystem::create_directories(devices);
  const std::string furnish = "set -e; cd " + devices +
                              "; for device in null zero urandom; do touch $device; mount --bind /dev/$device $device; "
                              "done; touch termination-log; mount --rbind " +
                              devices + " /dev; exec \"$@\"";
  Command command = in_container(Words{"bash", "-c", furnish, "bash"} + launch(replicas(2, shell("exit 4"))).argv);
  const Ended ended = run(command);
  EXPECT_EQ(ended.exit_code, 4) << ended;
  EXPECT_NE(read_text(log).find("exit"), std::string::npos) << ended;
}

}  // namespace
}  // namespace forklift
