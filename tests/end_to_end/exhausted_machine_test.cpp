// A machine that refuses: no descriptors, no processes, no space. One clear sentence, status 125 where the job could
// not run, nothing left running.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/end_to_end/job_test.hpp"
#include "tests/support/child_command.hpp"

namespace forklift {
namespace {

using support::Command;
using support::Ended;
using support::lines_of;
using support::Words;
using support::operator+;

/// Nobody else on the machine has this number, so a limit on processes counts only ours.
constexpr uid_t lonely_user = 61234;

const Words long_lived = {FORKLIFT_CHILD_PROGRAM, "ready-then-hold"};

class ExhaustedMachine : public support::JobTest {
 protected:
  /// The first line says what was refused; whatever follows is the report.
  static void expect_sentence(const Ended& ended, const std::string& part) {
    SCOPED_TRACE(::testing::Message() << ended);
    EXPECT_EQ(ended.exit_code, 125);
    const auto lines = lines_of(ended.err);
    ASSERT_FALSE(lines.empty());
    EXPECT_TRUE(lines.front().starts_with("forklift: "));
    EXPECT_NE(lines.front().find(part), std::string::npos) << part;
  }

  /// With a tmpfs of that size (and options) on full(), in a mount namespace of its own.
  [[nodiscard]] Command on_full_disk(const std::string& options, const std::string& then, Command command) const {
    std::filesystem::create_directories(full());
    command.argv =
        Words{"unshare",
              "-m",
              "bash",
              "-c",
              "mount -t tmpfs -o " + options + " none " + full().string() + " || exit 99\n" + then +
                  "\n\"$@\"\nstatus=$?\ncat " + full().string() + "/*/events.jsonl 2>/dev/null\nexit $status",
              "bash"} +
        command.argv;
    return command;
  }
  [[nodiscard]] std::filesystem::path full() const { return scratch() / "full"; }
};

class FewDescriptors : public ExhaustedMachine, public ::testing::WithParamInterface<int> {};

TEST_P(FewDescriptors, Launched_OneSentenceAndNothingLeft) {
  const std::string limit = std::to_string(GetParam());
  const Ended ended =
      support::run(prepared_by("ulimit -n " + limit, launch(Words{"--num-processes", "40"} + long_lived)));
  expect_sentence(ended, "open files");
  std::size_t sentences = 0;
  for (const std::string& line : lines_of(ended.err)) sentences += line.starts_with("forklift: ") ? 1 : 0;
  EXPECT_EQ(sentences, 1U) << ended;
}

INSTANTIATE_TEST_SUITE_P(Limits, FewDescriptors, ::testing::Values(5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 64),
                         ::testing::PrintToStringParamName());

class FewProcesses : public ExhaustedMachine, public ::testing::WithParamInterface<int> {};

// 1: not even the supervisor; 2: no replica; 6: in the middle of the start.
TEST_P(FewProcesses, Launched_NamesTheLimitAndNothingIsLeft) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user whose processes nobody else counts in";
  if (!may_be_run_by(lonely_user)) GTEST_SKIP() << "an ordinary user may not run " << FORKLIFT_BINARY;
  Command command = launch(Words{"--num-processes", "12"} + long_lived);
  for (const auto& place : {scratch().path(), state(), temporary()})
    std::filesystem::permissions(place, std::filesystem::perms::all);
  command = prepared_by("ulimit -u " + std::to_string(GetParam()), command);
  command.user = lonely_user;

  expect_sentence(support::run(command), "limit of processes");
}

INSTANTIATE_TEST_SUITE_P(Limits, FewProcesses, ::testing::Values(1, 2, 3, 6), ::testing::PrintToStringParamName());

TEST_F(ExhaustedMachine, LogsOnAFullDisk_JobGoesOnAndTheReportSaysWhatIsMissing) {
  if (!can_mount()) GTEST_SKIP() << "only root, outside of a chroot, can mount a small file system";
  const Words job{"--log-dir",   full(), "--tee", "3", "--num-processes", "2", FORKLIFT_CHILD_PROGRAM,
                  "write-lines", "2000", "80"};

  const Ended ended = support::run(on_full_disk("size=64k", "", launch(job)));

  SCOPED_TRACE(::testing::Message() << ended.err);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(support::occurrences(ended.out, "\n[0] ") + support::occurrences(ended.out, "\n[1] "), 3999U);
  EXPECT_NE(ended.err.find("No space left on"), std::string::npos);
}

TEST_F(ExhaustedMachine, NoRoomForTheEvents_JobGoesOnAndSaysSo) {
  if (!can_mount()) GTEST_SKIP() << "only root, outside of a chroot, can mount a small file system";
  const Words job{"--log-dir", full(), "--num-processes", "2", FORKLIFT_CHILD_PROGRAM, "print", "hello\n"};

  const Ended ended =
      support::run(on_full_disk("size=16k", "head -c 16k /dev/zero > " + (full() / "filler").string(), launch(job)));

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"[0] hello", "[1] hello"}));
  EXPECT_NE(ended.err.find("report.json': No space left on device"), std::string::npos);
}

TEST_F(ExhaustedMachine, NoRoomForTheLogFiles_FailedToStart) {
  if (!can_mount()) GTEST_SKIP() << "only root, outside of a chroot, can mount a small file system";
  const Words job{"--log-dir", full(), "--redirects", "3", "--num-processes", "2", "/bin/true"};

  // Six inodes: the root, the run, its errors, its events, attempt_0, attempt_0/0.
  const Ended ended = support::run(on_full_disk("nr_inodes=6", "", launch(job)));

  expect_sentence(ended, "could not be started: there is no space left for " + full().string());
}

TEST_F(ExhaustedMachine, NoRoomForTheRunDirectory_RefusedAsUsage) {
  if (!can_mount()) GTEST_SKIP() << "only root, outside of a chroot, can mount a small file system";
  const Ended ended = support::run(on_full_disk("nr_inodes=1", "", launch({"--log-dir", full(), "/bin/true"})));

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(lines_of(ended.err).size(), 1U);
  EXPECT_NE(ended.err.find("No space left on device"), std::string::npos);
}

}  // namespace
}  // namespace forklift
