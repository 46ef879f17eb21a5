// The end of a template's job from outside: stop requests, time limits, and SIGKILL of whoever watches over it.
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/end_to_end/template_job.hpp"

namespace forklift {
namespace {

using namespace support;

class StoppedTemplate : public TemplateTest {};

// ---- stop requests ------------------------------------------------------------------------------------------------

struct StopCase {
  const char* name;
  int signal;
};

class StopOfTemplate : public StoppedTemplate, public ::testing::WithParamInterface<StopCase> {
 protected:
  /// What a shell sees of a job that was stopped.
  void expect_stopped(const Ended& ended) const {
    SCOPED_TRACE(::testing::Message() << ended);
    if (GetParam().signal == SIGINT) {
      EXPECT_EQ(ended.signal, SIGINT);
    }
    if (GetParam().signal != SIGINT) {
      EXPECT_EQ(ended.exit_code, 128 + GetParam().signal);
    }
    EXPECT_EQ(report()["result"], "interrupted");
    EXPECT_EQ(report()["stop_signal"], GetParam().signal);
    EXPECT_TRUE(report()["root_cause"].is_null()) << report()["root_cause"];
  }
};

INSTANTIATE_TEST_SUITE_P(Signals, StopOfTemplate,
                         ::testing::Values(StopCase{"Interrupt", SIGINT}, StopCase{"Termination", SIGTERM},
                                           StopCase{"Hangup", SIGHUP}),
                         [](const auto& stop) { return std::string(stop.param.name); });

TEST_P(StopOfTemplate, WhileItLoads_EndsItPolitely) {
  RunningProcess running(job(3, {"child", "say", "loading", "stop"}, {"--max-restarts", "3"}));
  ASSERT_TRUE(running.wait_for_out("loading"));
  running.send(GetParam().signal);
  expect_stopped(running.wait());
  EXPECT_EQ(report()["template"]["outcome"]["signal"], GetParam().signal) << "not killed";
  EXPECT_EQ(events("attempt_started").size(), 1U);
  EXPECT_EQ(outcomes(), (Words{"lost", "lost", "lost"}));
  expect_nothing_left();
}

TEST_P(StopOfTemplate, WhileItsReplicasRun_EndsThemPolitely) {
  RunningProcess running(job(3, {"child", "fork", "say", "up", "stop"}, {"--max-restarts", "3"}));
  ASSERT_TRUE(all_say(running, 3, "up"));
  running.send(GetParam().signal);
  expect_stopped(running.wait());
  const std::string name = std::string("SIG") + ::sigabbrev_np(GetParam().signal);
  EXPECT_EQ(outcomes(), (Words{name, name, name}));
  EXPECT_TRUE(report()["template"]["outcome"].is_null()) << "a template at its fork point is ended last";
  expect_nothing_left();
}

TEST_P(StopOfTemplate, InTheMiddleOfTheForks_EndsTheJob) {
  RunningProcess running(job(300, {"touch", file("forking"), "fork", "stop"}));
  ASSERT_TRUE(eventually([this] { return file_exists("forking"); }));
  running.send(GetParam().signal);
  expect_stopped(running.wait());
  expect_nothing_left();
}

TEST_F(StoppedTemplate, IgnoresTerminationWhileItLoads_IsKilledAfterItsGrace) {
  RunningProcess running(
      job(2, {"ignore", std::to_string(SIGTERM), "child", "say", "loading", "stop"}, {"--shutdown-timeout", "0.2"}));
  ASSERT_TRUE(running.wait_for_out("loading"));
  running.send(SIGTERM);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(report()["template"]["outcome"]["signal"], SIGKILL);
  EXPECT_EQ(report()["result"], "interrupted");
  expect_nothing_left();
}

TEST_F(StoppedTemplate, NoGrace_IsKilledAtOnce) {
  RunningProcess running(
      job(2, {"ignore", std::to_string(SIGTERM), "say", "loading", "stop"}, {"--shutdown-timeout", "0"}));
  ASSERT_TRUE(running.wait_for_out("loading"));
  running.send(SIGTERM);
  EXPECT_EQ(running.wait().exit_code, 143);
  expect_nothing_left();
}

TEST_F(StoppedTemplate, ExitsZeroWhenAskedWhileItLoads_IsNoMissingForkPoint) {
  RunningProcess running(
      launch({"--template", "--num-processes", "2", "--no-python", FORKLIFT_CHILD_PROGRAM, "on-term-exit", "0"}));
  ASSERT_TRUE(running.wait_for_out("ready"));
  running.send(SIGTERM);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_TRUE(report()["root_cause"].is_null()) << report()["root_cause"];
}

TEST_F(StoppedTemplate, ReplicaFails_TheOthersAreStoppedAndTheTemplateEndsLast) {
  const Ended ended = run(job(4, {"fork", "fail-first", "2", "stop"}));
  EXPECT_EQ(ended.exit_code, 9) << ended;
  ASSERT_EQ(outcomes().size(), 4U);
  for (const std::size_t other : {0U, 1U, 3U}) {
    const std::string outcome = outcomes()[other];
    EXPECT_TRUE(outcome == "SIGTERM" || outcome == "lost") << outcome;  // Lost: not let go before rank 2 had failed.
  }
  EXPECT_EQ(outcomes()[2], "exited 9");
  EXPECT_EQ(report()["root_cause"]["rank"], 2);
  EXPECT_TRUE(report()["template"]["outcome"].is_null());
}

TEST_F(StoppedTemplate, TimeLimitWhileItLoads_StopsIt) {
  const Ended ended = run(job(2, {"say", "loading", "stop"}, {"--time-limit", "0.5"}));
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(report()["result"], "interrupted");
  EXPECT_EQ(report()["template"]["outcome"]["signal"], SIGTERM);
}

TEST_F(StoppedTemplate, TimeLimitWhileItsReplicasRun_StopsThem) {
  const Ended ended = run(job(2, {"fork", "stop"}, {"--time-limit", "0.5"}));
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(outcomes(), (Words{"SIGTERM", "SIGTERM"}));
}

TEST_F(StoppedTemplate, SignalForTheProgram_ReachesReplicasAndNotTheTemplate) {
  // SIGUSR1 would end the template, which has no handler; so it does with the replicas.
  RunningProcess running(job(2, {"fork", "say", "up", "stop"}));
  ASSERT_TRUE(all_say(running, 2, "up"));
  running.send(SIGUSR1);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 128 + SIGUSR1) << ended;
  EXPECT_TRUE(report()["template"]["outcome"].is_null());
}

// ---- SIGKILL of whoever watches -----------------------------------------------------------------------------------

enum class Victim { guard, supervisor };
enum class Moment { loading, forking, running, restarting };

struct KillCase {
  const char* name;
  Victim victim;
  Moment moment;
};

class KillAroundTemplate : public StoppedTemplate, public ::testing::WithParamInterface<KillCase> {
 protected:
  [[nodiscard]] Command job_for(Moment moment) const {
    switch (moment) {
      case Moment::loading:
        return job(3, {"child", "orphan", "touch", file("there"), "stop"});
      case Moment::forking:
        return job(300, {"child", "orphan", "touch", file("there"), "fork", "stop"});
      case Moment::running:
        return job(3, {"child", "orphan", "fork", "child", "touch", file("there"), "stop"});
      case Moment::restarting:
        return job(100, {"child", "fork", "child", "touch", file("there"), "exit", "3"}, {"--max-restarts", "1000"});
    }
    return {};
  }
  [[nodiscard]] std::string sign_of(Moment moment) const {
    return moment == Moment::running || moment == Moment::restarting ? "there.2" : "there";
  }
};

TEST_P(KillAroundTemplate, Kill_LeavesNothing) {
  const auto [name, victim, moment] = GetParam();
  RunningProcess running(job_for(moment));
  ASSERT_TRUE(eventually([this, moment] { return file_exists(sign_of(moment)); }));
  if (victim == Victim::guard) running.send(SIGKILL);
  if (victim == Victim::supervisor) {
    expect_no_report();
    ::kill(supervisor_pid(), SIGKILL);
  }
  const Ended ended = running.wait();
  if (victim == Victim::supervisor) {
    EXPECT_EQ(ended.exit_code, 125) << ended;
  }
  expect_nothing_left();
  const Ended shown = run(forklift({"report", "--format", "json"}));
  EXPECT_EQ(shown.exit_code, 0) << shown;
  const Json rebuilt = Json::parse(shown.out, nullptr, false);
  EXPECT_EQ(rebuilt["result"], "failed");
  EXPECT_EQ(rebuilt["template"]["pid"], events("template_started").front()["pid"]);
}

INSTANTIATE_TEST_SUITE_P(Moments, KillAroundTemplate,
                         ::testing::Values(KillCase{"GuardAtLoading", Victim::guard, Moment::loading},
                                           KillCase{"GuardAtForking", Victim::guard, Moment::forking},
                                           KillCase{"GuardAtRunning", Victim::guard, Moment::running},
                                           KillCase{"GuardAtRestarting", Victim::guard, Moment::restarting},
                                           KillCase{"SupervisorAtLoading", Victim::supervisor, Moment::loading},
                                           KillCase{"SupervisorAtForking", Victim::supervisor, Moment::forking},
                                           KillCase{"SupervisorAtRunning", Victim::supervisor, Moment::running},
                                           KillCase{"SupervisorAtRestarting", Victim::supervisor, Moment::restarting}),
                         [](const auto& kill) { return std::string(kill.param.name); });

TEST_F(StoppedTemplate, TemplateKilledInTheMiddleOfTheForks_EndsTheJobWithoutRemains) {
  RunningProcess running(
      job(300, {"touch", file("forking"), "fork", "wait", file("never")}, {"--shutdown-timeout", "0"}));
  ASSERT_TRUE(eventually([this] { return file_exists("forking"); }));
  ::kill(template_pid(), SIGKILL);
  // Where it came too late for that, the replicas run: they are stopped then.
  EXPECT_TRUE(eventually([&] {
    return events_reach("run_ended", 1).as_expected ? events_reach("run_ended", 1)
                                                    : events_reach("replica_started", 300);
  }));
  running.send(SIGTERM);
  running.wait();
  expect_nothing_left();
}

// ---- a pid namespace of its own -----------------------------------------------------------------------------------

enum class User { tester, ordinary };

class IsolatedTemplate : public StoppedTemplate, public ::testing::WithParamInterface<User> {
 protected:
  void SetUp() override {
    if (GetParam() == User::ordinary) {
      if (::getuid() != 0) GTEST_SKIP() << "the tester is an ordinary user already";
      give_scratch_to(nobody);
    }
    Command probe = launch({"--isolate", "/bin/true"});
    if (GetParam() == User::ordinary) probe.user = nobody;
    const Ended tried = run(probe);
    if (tried.exit_code != 0) GTEST_SKIP() << "this machine allows no pid namespace: " << tried.err;
  }

  [[nodiscard]] Command isolated(int replicas_of_it, const Words& steps, const Words& flags = {}) const {
    Command command = job(replicas_of_it, steps, flags + Words{"--isolate"});
    if (GetParam() == User::ordinary) command.user = nobody;
    return command;
  }
};

INSTANTIATE_TEST_SUITE_P(As, IsolatedTemplate, ::testing::Values(User::tester, User::ordinary),
                         [](const auto& user) { return user.param == User::ordinary ? "OrdinaryUser" : "Tester"; });

TEST_P(IsolatedTemplate, ForksAndRestartsAsElsewhere) {
  const Ended ended =
      run(isolated(4, {"append", file("loads"), "child", "fork", "child", "fail-first", "1", "say", "done"},
                   {"--max-restarts", "1"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_GE(occurrences(ended.out, ": done"), 4U) << ended;  // Some may have been quick in the first attempt.
  EXPECT_EQ(lines_in("loads"), 1U);
  EXPECT_EQ(report()["attempts"].size(), 2U);
}

TEST_P(IsolatedTemplate, GuardAndSupervisorKilledTogether_LeaveNothing) {
  expect_no_report();
  RunningProcess running(isolated(3, {"child", "fork", "child", "say", "up", "stop"}));
  ASSERT_TRUE(all_say(running, 3, "up"));
  const int supervisor = supervisor_pid();
  ::kill(running.pid(), SIGSTOP);  // So that the guard cannot answer the supervisor's death before its own.
  ASSERT_TRUE(eventually([&] { return state_is(running.pid(), 'T'); }));
  ::kill(supervisor, SIGKILL);
  running.send(SIGKILL);
  running.wait();
  expect_nothing_left();
}

}  // namespace
}  // namespace forklift
