// `forklift launch` in the words of its peers: what is run, with which arguments, and the exit status.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/end_to_end/job_test.hpp"
#include "tests/support/child_command.hpp"

namespace forklift {
namespace {

using support::child;
using support::Command;
using support::Ended;
using support::lines_of;
using support::Words;
using support::operator+;

class Launch : public support::JobTest {};

struct EndOfOne {
  const char* name;
  Words program;
  int exit_status;
};
std::ostream& operator<<(std::ostream& stream, const EndOfOne& row) { return stream << row.name; }

class ExitStatus : public Launch, public ::testing::WithParamInterface<EndOfOne> {};

TEST_P(ExitStatus, AllReplicasEndSo_IsPassedOn) {
  const Ended ended = support::run(launch(Words{"--num-processes", "3"} + GetParam().program));
  EXPECT_EQ(ended.exit_code, GetParam().exit_status) << ended;
}

INSTANTIATE_TEST_SUITE_P(Ends, ExitStatus,
                         ::testing::Values(EndOfOne{"Success", child("exit", {"0"}), 0},
                                           EndOfOne{"Code3", child("exit", {"3"}), 3},
                                           EndOfOne{"Code11", child("exit", {"11"}), 11},
                                           EndOfOne{"Code255", child("exit", {"255"}), 255},
                                           EndOfOne{"Signal11", child("raise-without-core", {"SEGV"}), 139},
                                           EndOfOne{"Abort", child("raise-without-core", {"ABRT"}), 134},
                                           EndOfOne{"Killed", child("raise", {"KILL"}), 137}),
                         [](const auto& row) { return row.param.name; });

TEST_F(Launch, UnderscoresInFlags_AreTheSame) {
  const Ended ended = support::run(
      launch(Words{"--num_processes", "2", "--log_line-prefix_template", "${rank}:"} + child("print", {"hello\n"})));
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"0:hello", "1:hello"})) << ended;
}

TEST_F(Launch, WordsAfterTheProgram_BelongToIt) {
  const Words own{"--num-processes", "9", "-m", "--dry-run", "--", "{rank}"};
  const Ended ended = support::run(launch(Words{"--num-processes", "1"} + child("print-args", own)));
  EXPECT_EQ(lines_of(ended.out), own) << ended;
}

TEST_F(Launch, ExpandArguments_EachReplicaGetsItsRank) {
  const Ended ended = support::run(launch(Words{"--num-processes", "2", "--expand-arguments"} +
                                          child("print-args", {"out-{rank}-{local_rank}.txt"})));
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"[0] out-0-0.txt", "[1] out-1-1.txt"})) << ended;
}

TEST_F(Launch, NumberLeftOpen_IsOneAndSaysSo) {
  const Ended ended = support::run(launch(child("print-env", {"RANK"})));
  const bool accelerators_here = ended.out.starts_with("[0] ");
  if (accelerators_here) GTEST_SKIP() << "this machine has accelerators: one replica each";
  EXPECT_EQ(ended.out, "RANK is not set\n");
  EXPECT_NE(ended.err.find("1 process: no accelerator found"), std::string::npos) << ended;
}

TEST_F(Launch, ProcessesByCpu_AreTheUsableOnes) {
  const Ended ended = support::run(launch(Words{"--nproc-per-node", "cpu"} + child("print-env", {"WORLD_SIZE"})));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  const auto lines = lines_of(ended.out);
  for (const std::string& line : lines) {
    EXPECT_NE(line.find("WORLD_SIZE=" + std::to_string(lines.size())), std::string::npos) << line;
  }
}

TEST_F(Launch, InputFromAPipe_IsRankZeros) {
  Command command = launch(Words{"--num-processes", "2"} + child("echo"));
  command.input = support::Input::pipe;
  support::RunningProcess job(command);
  job.write_input("one\ntwo\n");
  job.close_input();
  EXPECT_EQ(lines_of(job.wait().out), (Words{"[0] one", "[0] two"}));
}

TEST_F(Launch, PeersVariables_AreDefaultsOfTheFlags) {
  Command command = launch(child("print-env", {"WORLD_SIZE"}));
  command.environment["PET_NPROC_PER_NODE"] = "3";
  const Ended ended = support::run(command);
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"[0] WORLD_SIZE=3", "[1] WORLD_SIZE=3", "[2] WORLD_SIZE=3"}))
      << ended;
}

TEST_F(Launch, FlagOfAPeerWithoutMeaningHere_IsNamedOnce) {
  const Ended ended = support::run(launch({"--nproc-per-node", "2", "--monitor-interval", "1", "/bin/true"}));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(support::occurrences(ended.err, "--monitor-interval"), 1U) << ended;
}

TEST_F(Launch, DryRun_StartsNothingAndLeavesNoRun) {
  const auto witness = scratch() / "witness";
  const Ended ended = support::run(launch({"--dry-run", "--num-processes", "2", "/usr/bin/touch", witness}));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("/usr/bin/touch"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(witness));
  EXPECT_FALSE(std::filesystem::exists(runs()));
}

TEST_F(Launch, ThousandReplicas_AllRunAndAllAreReported) {
  const Ended ended = support::run(launch({"--num-processes", "1000", "/bin/true"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(report()["replicas"].size(), 1000U);
}

}  // namespace
}  // namespace forklift
