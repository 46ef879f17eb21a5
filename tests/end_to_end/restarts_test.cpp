// Attempts: who starts the group again, how often, with what; and the end of the time that a batch system grants.
#include <set>
#include <string>
#include <vector>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift {
namespace {

using namespace support;

class Restarts : public SupervisedJobTest {
 protected:
  [[nodiscard]] std::vector<std::string> categories_of_attempts() const {
    std::vector<std::string> all;
    const Json whole = report();
    for (const Json& attempt : whole["attempts"]) {
      const Json& cause = attempt["root_cause"];
      all.push_back(cause.is_null() ? "none" : cause["category"].get<std::string>());
    }
    return all;
  }
};

TEST_F(Restarts, ProgramThatFailsTwice_SucceedsInTheThirdAttempt) {
  const Words program = shell(
      "echo try $TORCHELASTIC_RESTART_COUNT of $TORCHELASTIC_MAX_RESTARTS port $MASTER_PORT;"
      "[ $RANK = 0 ] || [ $TORCHELASTIC_RESTART_COUNT = 2 ] || exit 5");
  const Ended ended = run(launch(Words{"--nproc-per-node", "2", "--max-restarts", "2"} + program));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(report()["result"], "succeeded");
  EXPECT_EQ(categories_of_attempts(), (Words{"exit_code", "exit_code", "none"}));
  EXPECT_NE(ended.err.find("forklift: The job succeeded after 2 restarts."), std::string::npos) << ended;
  EXPECT_NE(ended.err.find("\nattempt 1: Rank 1 (pid "), std::string::npos) << ended;
  std::set<std::string> lines_of_rank_0;
  std::set<std::string> ports;
  for (const std::string& line : lines_of(ended.out)) {
    if (!line.starts_with("[0] try ")) continue;
    lines_of_rank_0.insert(line.substr(0, line.find(" port ")));
    ports.insert(line.substr(line.find(" port ")));
  }
  EXPECT_EQ(lines_of_rank_0, (std::set<std::string>{"[0] try 0 of 2", "[0] try 1 of 2", "[0] try 2 of 2"})) << ended;
  EXPECT_EQ(ports.size(), 3U) << "an attempt was given the port of the one before: " << ended;
}

TEST_F(Restarts, BudgetSpent_EndsWithTheLastFailure) {
  const Ended ended =
      run(launch(Words{"--max-restarts", "1"} + replicas(2, shell("exit $((20 + TORCHELASTIC_RESTART_COUNT))"))));
  EXPECT_EQ(ended.exit_code, 21) << ended;
  EXPECT_EQ(report()["attempts"].size(), 2U);
}

TEST_F(Restarts, StopRequestWhileRunning_StartsNoFurtherAttempt) {
  RunningProcess job(launch(Words{"--max-restarts", "5"} + replicas(2, child("on-term-exit", {"1"}))));
  ASSERT_TRUE(job.wait_for_out("[0] ready"));
  ASSERT_TRUE(job.wait_for_out("[1] ready"));
  job.send(SIGTERM);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(events("attempt_started").size(), 1U);
}

TEST_F(Restarts, DaemonOfAFailedAttempt_IsGoneBeforeTheNext) {
  const std::string pid_file = (scratch() / "daemon").string();
  const std::string program = FORKLIFT_CHILD_PROGRAM;
  const Words script = shell("if [ $TORCHELASTIC_RESTART_COUNT = 0 ]; then " + program + " daemonize " + pid_file +
                             " leave; exit 1; fi; ! kill -0 $(cat " + pid_file + ")");
  const Ended ended = run(launch(Words{"--nproc-per-node", "1", "--max-restarts", "1"} + script));
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

constexpr const char* port_stolen = "echo 'OSError: [Errno 98] Address already in use' >&2; exit 1";

TEST_F(Restarts, PortInUse_IsTriedAgainOnceWithoutABudget) {
  const Words program = shell(std::string("[ $TORCHELASTIC_RESTART_COUNT = 1 ] || { ") + port_stolen + "; }");
  const Ended ended = run(launch(Words{"--nproc-per-node", "2"} + program));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(categories_of_attempts(), (Words{"port_in_use", "none"}));
}

TEST_F(Restarts, PortInUseAgain_IsTheEnd) {
  const Ended ended = run(launch(Words{"--nproc-per-node", "2"} + shell(port_stolen)));
  EXPECT_EQ(ended.exit_code, 1) << ended;
  EXPECT_EQ(categories_of_attempts(), (Words{"port_in_use", "port_in_use"}));
}

TEST_F(Restarts, OnlyOnNamedCauses_OtherFailuresEndTheJob) {
  const Words limits{"--nproc-per-node", "1", "--max-restarts", "3", "--restart-on", "segmentation_fault"};
  const Ended other = run(launch(limits + shell("exit 4")));
  EXPECT_EQ(other.exit_code, 4) << other;
  EXPECT_EQ(report()["attempts"].size(), 1U);
  const Ended named = run(launch(limits + shell("[ $TORCHELASTIC_RESTART_COUNT = 1 ] || kill -SEGV $$")));
  EXPECT_EQ(named.exit_code, 0) << named;
  EXPECT_EQ(categories_of_attempts(), (Words{"segmentation_fault", "none"}));
}

TEST_F(Restarts, TimeLimit_GivesTheCheckpointSignalThenStops) {
  const std::string checkpoint = (scratch() / "checkpoint-").string();
  const Words program = shell("trap 'echo saved > " + checkpoint + "$RANK' USR1; trap 'exit 0' TERM; " +
                              "while :; do sleep 1000 & wait; done");
  const Ended ended = run(launch(Words{"--time-limit", "3", "--checkpoint-signal", "USR1@1.5"} + replicas(2, program)));
  EXPECT_EQ(ended.exit_code, 143) << ended;
  EXPECT_EQ(report()["result"], "interrupted");
  EXPECT_EQ(report()["ended_by"], "time_limit");
  EXPECT_EQ(report()["time_limit_s"], 3);
  EXPECT_NE(ended.err.find("time limit of 3 s"), std::string::npos) << ended;
  for (const char* const rank : {"0", "1"}) EXPECT_EQ(read_text(checkpoint + rank), "saved\n") << ended;
}

}  // namespace
}  // namespace forklift
