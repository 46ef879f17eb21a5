// What a person sees of N replicas, and what the files hold.
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <map>
#include <set>

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

std::string host_name() {
  utsname names{};
  ::uname(&names);
  return names.nodename;
}

class Output : public support::JobTest {
 protected:
  [[nodiscard]] std::string log(int rank, const std::string& name) const {
    return support::read_text(log_path(rank, name));
  }
  [[nodiscard]] std::filesystem::path log_path(int rank, const std::string& name) const {
    return run_directory() / "attempt_0" / std::to_string(rank) / name;
  }
};

// ---- whole lines --------------------------------------------------------------------------------------------------

TEST_F(Output, EightReplicasPrintAtOnce_EveryLineIsThereOnceAndWhole) {
  constexpr int replicas = 8;
  constexpr int lines = 10'000;
  const Ended ended =
      support::run(launch(Words{"--num-processes", "8"} + child("write-lines", {std::to_string(lines), "60"})));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const std::string alone = support::run(Command{.argv = child("write-lines", {std::to_string(lines), "60"})}).out;

  std::map<std::string, std::string> by_prefix;
  for (const std::string& line : lines_of(ended.out)) by_prefix[line.substr(0, 4)] += line.substr(4) + "\n";

  ASSERT_EQ(by_prefix.size(), std::size_t{replicas});
  for (int rank = 0; rank < replicas; ++rank) {
    const std::string prefix = "[" + std::to_string(rank) + "] ";
    EXPECT_TRUE(by_prefix[prefix] == alone) << "rank " << rank << " printed other lines, or in another order";
  }
}

TEST_F(Output, LastLineWithoutEnd_IsKeptAndEnded) {
  const Ended ended = support::run(launch(Words{"--num-processes", "2"} + child("print", {"no end", "none here"})));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"[0] no end", "[1] no end"}));
  EXPECT_EQ(support::sorted_lines(ended.err), (Words{"[0] none here", "[1] none here"}));
}

TEST_F(Output, OneReplica_IsNotPrefixed) {
  const Ended ended = support::run(launch(Words{"--num-processes", "1"} + child("print", {"out\n", "err\n"})));
  EXPECT_EQ(ended.out, "out\n");
  EXPECT_EQ(ended.err, "err\n");
}

TEST_F(Output, InvalidUtf8_PassesUnchanged) {
  const Ended ended = support::run(launch(Words{"--num-processes", "2"} + child("print", {"a\xff\xfe\xc3z\n"})));
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"[0] a\xff\xfe\xc3z", "[1] a\xff\xfe\xc3z"}));
}

TEST_F(Output, BinaryGarbage_IsByteExactInTheFiles) {
  const Words garbage = child("garbage", {"300000"});
  const std::string alone = support::run(Command{.argv = garbage}).out;
  const Ended ended = support::run(launch(Words{"--num-processes", "2", "--tee", "1"} + garbage));
  ASSERT_EQ(ended.exit_code, 0);
  for (const int rank : {0, 1}) EXPECT_TRUE(log(rank, "stdout.log") == alone) << "rank " << rank;
}

TEST_F(Output, LineOf64MiB_ComesInMarkedPiecesAndTheFileIsExact) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const Ended ended =
      support::run(launch(Words{"--num-processes", "2", "--tee", "0:1"} + child("long-line", {std::to_string(bytes)})));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;

  std::size_t characters = 0;
  for (const std::string& line : lines_of(ended.out)) {
    ASSERT_TRUE(line.starts_with("[0] ") || line.starts_with("[1] ")) << line.substr(0, 80);
    ASSERT_LT(line.size(), std::size_t{2} << 20);
    characters += static_cast<std::size_t>(std::count(line.begin(), line.end(), 'x'));
  }
  // The copy of rank 0 is whole; of the console nothing is lost while its reader reads.
  EXPECT_EQ(std::filesystem::file_size(log_path(0, "stdout.log")), bytes + 1);
  EXPECT_GE(characters, bytes);
  EXPECT_GT(lines_of(ended.out).size(), std::size_t{64});
}

// ---- progress bars ------------------------------------------------------------------------------------------------

TEST_F(Output, ProgressBarIntoAPipe_IsAFewLines) {
  const Ended ended = support::run(launch(Words{"--num-processes", "2"} + child("progress", {"5000"})));
  ASSERT_EQ(ended.exit_code, 0);
  EXPECT_LT(lines_of(ended.err).size(), 20U);
  EXPECT_EQ(support::occurrences(ended.err, "step 5000/5000"), 2U);
  EXPECT_EQ(ended.err.find('\r'), std::string::npos);
}

TEST_F(Output, ProgressBarOnATerminal_EndsAsOneLineOfEachReplica) {
  Command command = launch(Words{"--num-processes", "2"} + child("progress", {"500"}));
  command.streams = support::Streams::terminal;
  const Ended ended = support::run(command);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_GE(support::occurrences(ended.out, "step 500/500"), 2U) << ended;
}

// ---- readers ------------------------------------------------------------------------------------------------------

// Nobody reads until both files are complete: only then does the job have a reader.
TEST_F(Output, ReaderDoesNotRead_FilesAreCompleteAndTheJobWaits) {
  const Words lines = child("write-lines", {"20000", "80"});
  support::RunningProcess job(launch(Words{"--num-processes", "2", "--tee", "1"} + lines));
  constexpr std::size_t bytes_of_file = 20'000 * 81;
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(support::eventually([&] {
      std::error_code error;
      const auto size = std::filesystem::file_size(log_path(rank, "stdout.log"), error);
      return support::Seen{!error && size == bytes_of_file, std::to_string(size)};
    }));
  }
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(Output, ReaderWithoutFilesIsSlow_NothingIsLost) {
  support::RunningProcess job(launch(Words{"--num-processes", "2"} + child("write-lines", {"50000", "100"})));
  // 10 MB that nobody reads: more than pipes and queues hold. The launcher waits, it does not drop.
  EXPECT_TRUE(support::eventually([&] { return std::filesystem::exists(run_directory() / "events.jsonl"); }));
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(lines_of(ended.out).size(), 100'000U);
}

TEST_F(Output, ReaderIsGone_JobGoesOnAndFilesAreComplete) {
  Command command = launch(Words{"--num-processes", "2", "--tee", "1"} + child("write-lines", {"20000", "80"}));
  command.argv = Words{"bash", "-c", "\"$@\" | head -n 1; exit ${PIPESTATUS[0]}", "bash"} + command.argv;

  const Ended ended = support::run(command);

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(lines_of(ended.out).size(), 1U);
  for (const int rank : {0, 1}) EXPECT_EQ(lines_of(log(rank, "stdout.log")).size(), 20'000U);
}

// ---- files --------------------------------------------------------------------------------------------------------

TEST_F(Output, LogDirectory_HoldsTorchrunsLayoutUnderTheRunId) {
  const auto logs = scratch() / "logs";
  const Ended ended = support::run(launch(Words{"--num-processes", "2", "--log-dir", logs, "--redirects", "3"} +
                                          child("print", {"out\n", "err\n"})));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "");

  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(logs)) {
    if (entry.is_regular_file()) files.insert(entry.path().lexically_relative(run_directory()));
  }
  EXPECT_EQ(run_directory().parent_path(), logs);
  EXPECT_EQ(files, (std::set<std::string>{"attempt_0/0/stderr.log", "attempt_0/0/stdout.log", "attempt_0/1/stderr.log",
                                          "attempt_0/1/stdout.log", "events.jsonl", "report.json"}));
  EXPECT_EQ(log(1, "stdout.log"), "out\n");
  EXPECT_EQ(log(1, "stderr.log"), "err\n");
}

TEST_F(Output, MapsOfMasks_EachReplicaByItsOwn) {
  // Rank 0: stdout to a file only. Rank 1: stderr to a file and the console. Rank 2: neither.
  const Ended ended = support::run(
      launch(Words{"--num-processes", "3", "--redirects", "0:1", "--tee", "1:2"} + child("print", {"out\n", "err\n"})));
  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"[1] out", "[2] out"}));
  EXPECT_EQ(support::sorted_lines(ended.err), (Words{"[0] err", "[1] err", "[2] err"}));
  EXPECT_EQ(log(0, "stdout.log"), "out\n");
  EXPECT_EQ(log(1, "stderr.log"), "err\n");
  EXPECT_FALSE(std::filesystem::exists(log_path(1, "stdout.log")));
  EXPECT_FALSE(std::filesystem::exists(run_directory() / "attempt_0" / "2"));
}

TEST_F(Output, RedirectedStream_IsTheReplicasOwnDescriptor) {
  const Ended ended = support::run(launch(Words{"--num-processes", "2", "--redirects", "1"} + child("print-fds")));
  ASSERT_EQ(ended.exit_code, 0) << ended;
  const auto descriptors = lines_of(log(1, "stdout.log"));
  ASSERT_EQ(descriptors.size(), 3U);
  EXPECT_EQ(descriptors[1], "1 " + log_path(1, "stdout.log").string());
}

// ---- prefixes, filters, colour ------------------------------------------------------------------------------------

TEST_F(Output, PrefixTemplate_KnowsRankRoleAndHost) {
  const Ended ended =
      support::run(launch(Words{"--num-processes", "2", "--role", "trainer", "--log-line-prefix-template",
                                "${role_name}/${rank}/${local_rank}@${host}> "} +
                          child("print", {"hello\n"})));
  EXPECT_EQ(support::sorted_lines(ended.out),
            (Words{"trainer/0/0@" + host_name() + "> hello", "trainer/1/1@" + host_name() + "> hello"}));
}

TEST_F(Output, LocalRanksFilter_ShowsTheseOnly) {
  const Ended ended =
      support::run(launch(Words{"--num-processes", "4", "--local-ranks-filter", "1,3"} + child("print", {"hello\n"})));
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"[1] hello", "[3] hello"}));
}

TEST_F(Output, ColourByItself_OnlyOnATerminal) {
  Command command = launch(Words{"--num-processes", "2"} + child("print", {"hello\n"}));
  EXPECT_EQ(support::run(command).out.find('\x1b'), std::string::npos);
  command.streams = support::Streams::terminal;
  EXPECT_NE(support::run(command).out.find("\x1b["), std::string::npos);
}

TEST_F(Output, ColourAsked_AlsoInAPipe) {
  const Ended ended =
      support::run(launch(Words{"--num-processes", "2", "--color", "always"} + child("print", {"hello\n"})));
  EXPECT_NE(ended.out.find("\x1b["), std::string::npos);
}

TEST_F(Output, StderrInAFile_IsNamedInTheReport) {
  const Ended ended = support::run(launch(
      Words{"--num-processes", "2", "--redirects", "2", "--no-python", "/bin/sh", "-c", "echo no >&2; exit $RANK"}));
  const std::string file = (run_directory() / "attempt_0" / "1" / "stderr.log").string();
  EXPECT_NE(ended.err.find("its stderr: " + file + "\n"), std::string::npos) << ended;
  EXPECT_EQ(report()["replicas"][1]["stderr_file"], file);
  EXPECT_TRUE(report()["replicas"][1]["stdout_file"].is_null());
  EXPECT_EQ(support::read_text(file), "no\n");
}

// ---- the tail -----------------------------------------------------------------------------------------------------

struct Setting {
  const char* name;
  Words flags;
};

class OutputTail : public Output, public ::testing::WithParamInterface<Setting> {};

TEST_P(OutputTail, ReplicaFails_ReportHasItsLastLines) {
  const auto script = scratch().write("fail.sh", "echo the last words of $RANK >&2\nexit $RANK\n");
  const Ended ended =
      support::run(launch(Words{"--num-processes", "2"} + GetParam().flags + Words{"--no-python", "/bin/sh", script}));
  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.err.find("[rank 1] the last words of 1"), std::string::npos);
  EXPECT_EQ(report()["replicas"][1]["last_lines"], (Words{"the last words of 1"}));
}

INSTANTIATE_TEST_SUITE_P(Settings, OutputTail,
                         ::testing::Values(Setting{"Console", {}}, Setting{"Redirected", {"--redirects", "3"}},
                                           Setting{"Teed", {"--tee", "3"}},
                                           Setting{"Filtered", {"--local-ranks-filter", "0"}},
                                           Setting{"Quiet", {"--quiet"}}),
                         [](const auto& setting) { return setting.param.name; });

}  // namespace
}  // namespace forklift
