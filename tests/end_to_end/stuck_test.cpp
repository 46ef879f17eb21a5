// Replicas that do not end when they are asked: deaf, stopped, or frozen by the kernel. None of them holds forklift up
// for ever.
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift {
namespace {

using namespace support;

namespace fs = std::filesystem;

class Stuck : public SupervisedJobTest {};

TEST_F(Stuck, ReplicaDeafToSigterm_IsKilledAfterShutdownTimeout) {
  RunningProcess job(launch(Words{"--shutdown-timeout", "0.3"} + replicas(2, child("block", {"TERM"}))));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  job.send(SIGTERM);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(outcomes(), (Words{"SIGKILL", "SIGKILL"}));
  const Json whole = report();
  for (const Json& replica : whole["replicas"]) EXPECT_EQ(replica["asked"], "killed") << replica;
}

TEST_F(Stuck, SiblingDeafToSigtermOfFailedReplica_IsKilledAndNotBlamed) {
  const std::string deaf = std::string(FORKLIFT_CHILD_PROGRAM) + " block TERM";
  RunningProcess job(
      launch(Words{"--shutdown-timeout", "0.3"} + replicas(2, shell("[ $RANK = 1 ] || exec " + deaf + "; exit 7"))));
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 7) << ended;
  EXPECT_EQ(report()["root_cause"]["rank"], 1);
}

// Rank 1 fails when rank 0 has become deaf. Without a word the rest of the timeout would look like a hang.
TEST_F(Stuck, StopThatTakesLong_SaysWhomItWaitsFor) {
  const std::string deaf = (scratch() / "deaf").string();
  RunningProcess job(launch(Words{"--shutdown-timeout", "300"} +
                            replicas(2, shell("if [ $RANK = 1 ]; then until [ -e " + deaf +
                                              " ]; do sleep 0.02; done; exit 7; fi; "
                                              "trap '' TERM; echo $$ > " +
                                              deaf + ".new; mv " + deaf + ".new " + deaf + "; exec sleep 1000"))));
  ASSERT_TRUE(job.wait_for_err("waiting for 1 replica to stop (rank 0); 300 s after the stop signal they are killed"));
  int pid = 0;
  std::ifstream(deaf) >> pid;
  ASSERT_GT(pid, 0);
  ::kill(pid, SIGKILL);
  EXPECT_EQ(job.wait().exit_code, 7);
}

TEST_F(Stuck, StoppedReplica_IsContinuedAndEnds) {
  RunningProcess job(launch(Words{"--shutdown-timeout", "300"} + replicas(2, child("stop-self"))));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  for (const int rank : {0, 1}) ASSERT_TRUE(eventually([&] { return state_is(replica_pid(rank), 'T'); }));
  job.send(SIGTERM);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(outcomes(), (Words{"SIGTERM", "SIGTERM"}));
}

/// A group of the first version's freezer, in which even SIGKILL waits until it is thawed: what a hung network
/// filesystem or driver does to a process.
class Freezer {
 public:
  Freezer() : folder_("/sys/fs/cgroup/freezer/forklift-test-" + std::to_string(::getpid())) {
    std::error_code error;
    usable_ = fs::exists("/sys/fs/cgroup/freezer/cgroup.procs", error) && fs::create_directory(folder_, error);
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;
  ~Freezer() {
    if (!usable_) return;
    thaw();
    EXPECT_TRUE(eventually([this] {
      std::error_code error;
      return fs::remove(folder_, error);  // Refused until its processes are gone.
    }));
  }

  [[nodiscard]] bool usable() const { return usable_; }

  [[nodiscard]] ::testing::AssertionResult freeze(int pid) const {
    write("cgroup.procs", std::to_string(pid));
    write("freezer.state", "FROZEN");
    return eventually([this] {
      const std::string state = read_text(folder_ / "freezer.state");
      return Seen{state == "FROZEN\n", "freezer.state " + state};
    });
  }
  void thaw() const { write("freezer.state", "THAWED"); }

 private:
  void write(const char* file, const std::string& text) const { std::ofstream(folder_ / file) << text; }

  fs::path folder_;
  bool usable_ = false;
};

TEST_F(Stuck, ReplicaThatOutlivesSigkill_IsNamedAndGivenUp) {
  const Freezer freezer;
  if (!freezer.usable()) GTEST_SKIP() << "needs a writable cgroup v1 freezer under /sys/fs/cgroup/freezer";
  RunningProcess job(
      launch(Words{"--shutdown-timeout", "0.1", "--kill-timeout", "0.3"} + replicas(2, child("ready-then-hold"))));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  const int frozen = replica_pid(1);
  ASSERT_TRUE(freezer.freeze(frozen));
  job.send(SIGTERM);
  const Ended ended = job.wait_for_exit();
  EXPECT_NE(ended.exit_code.value_or(0), 0) << ended;
  EXPECT_NE(ended.err.find(std::to_string(frozen)), std::string::npos) << ended;
  EXPECT_EQ(outcomes().back(), "lost") << report().dump(1);
  ASSERT_EQ(report()["leftovers"].size(), 1U) << report().dump(1);
  EXPECT_EQ(report()["leftovers"][0]["pid"], frozen);
  freezer.thaw();
}

}  // namespace
}  // namespace forklift
