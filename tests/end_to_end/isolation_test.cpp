// --isolate: the job in a pid namespace of its own, which the kernel ends as a whole.
#include <signal.h>
#include <unistd.h>

#include <string>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift {
namespace {

using namespace support;

enum class User { tester, ordinary };

class IsolatedJob : public SupervisedJobTest, public ::testing::WithParamInterface<User> {
 protected:
  void SetUp() override {
    if (GetParam() == User::ordinary) {
      if (::getuid() != 0) GTEST_SKIP() << "the tester is an ordinary user already";
      give_scratch_to(nobody);
    }
    const Ended tried = run(isolated({"/bin/true"}));
    if (tried.exit_code != 0) GTEST_SKIP() << "this machine allows no pid namespace: " << tried.err;
  }

  [[nodiscard]] Command isolated(const Words& words) const {
    Command command = launch(Words{"--isolate"} + words);
    if (GetParam() == User::ordinary) command.user = nobody;
    return command;
  }
};

INSTANTIATE_TEST_SUITE_P(As, IsolatedJob, ::testing::Values(User::tester, User::ordinary),
                         [](const auto& user) { return user.param == User::ordinary ? "OrdinaryUser" : "Tester"; });

TEST_P(IsolatedJob, ReplicaSeesOnlyItsOwnJob) {
  const Ended ended = run(isolated(replicas(1, shell("echo parent $PPID; ls -d /proc/[0-9]*"))));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_NE(ended.out.find("parent 1\n"), std::string::npos) << ended;
  EXPECT_EQ(ended.out.find("/proc/" + std::to_string(::getpid()) + "\n"), std::string::npos) << ended;
}

TEST_P(IsolatedJob, FailedReplica_IsReportedAsElsewhere) {
  const Ended ended = run(isolated(replicas(2, shell("[ $RANK = 0 ] || exit 9; exec sleep 1000"))));
  EXPECT_EQ(ended.exit_code, 9) << ended;
  EXPECT_EQ(report()["root_cause"]["rank"], 1);
}

TEST_P(IsolatedJob, StopRequest_ReachesTheReplicas) {
  RunningProcess job(isolated(replicas(2, child("on-term-exit", {"0"}))));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  job.send(SIGTERM);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(outcomes(), (Words{"exited 0", "exited 0"}));
}

// Without a namespace this is the one way to leave something behind.
TEST_P(IsolatedJob, GuardAndSupervisorKilledTogether_LeaveNothing) {
  const std::string daemon = " daemonize " + (scratch() / "daemon-").string() + "$RANK";
  RunningProcess job(isolated(replicas(3, shell("exec " + std::string(FORKLIFT_CHILD_PROGRAM) + daemon))));
  for (const char* const ready : {"[0] ready", "[1] ready", "[2] ready"}) ASSERT_TRUE(job.wait_for_out(ready));
  const int supervisor = supervisor_pid();
  ::kill(job.pid(), SIGSTOP);  // So that the guard cannot answer the supervisor's death before its own.
  ASSERT_TRUE(eventually([&] { return state_is(job.pid(), 'T'); }));
  ::kill(supervisor, SIGKILL);
  job.send(SIGKILL);
  job.wait();
  EXPECT_TRUE(eventually([this] { return marked_count_is(marker(), 0); }));
}

TEST_P(IsolatedJob, GuardKilled_LeavesNothing) {
  RunningProcess job(isolated(replicas(2, child("setsid-child"))));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  job.send(SIGKILL);
  job.wait();
  EXPECT_TRUE(eventually([this] { return marked_count_is(marker(), 0); }));
}

}  // namespace
}  // namespace forklift
