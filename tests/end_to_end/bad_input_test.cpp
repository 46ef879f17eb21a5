// What a user can get wrong before anything runs: one sentence that names the place and the value, the exit status of
// the command line, nothing started.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <ostream>

#include "tests/end_to_end/job_test.hpp"
#include "tests/support/child_command.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

using support::Command;
using support::Ended;
using support::lines_of;
using support::Words;
using support::operator+;

class BadInput : public support::JobTest {
 protected:
  /// One sentence of forklift's on stderr with each of `parts` in it, nothing on stdout, and no run was begun.
  void expect_refusal(const Ended& ended, int exit_status, const Words& parts) const {
    SCOPED_TRACE(::testing::Message() << ended);
    EXPECT_EQ(ended.exit_code, exit_status);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_of(ended.err).size(), 1U);
    EXPECT_TRUE(ended.err.starts_with("forklift: "));
    for (const std::string& part : parts) EXPECT_NE(ended.err.find(part), std::string::npos) << part;
    EXPECT_FALSE(std::filesystem::exists(runs()));
  }
};

struct WrongWords {
  const char* name;
  Words words;
  int exit_status;
  Words parts;  ///< Of the one sentence.
};
std::ostream& operator<<(std::ostream& stream, const WrongWords& row) { return stream << row.name; }

class WrongCommandLine : public BadInput, public ::testing::WithParamInterface<WrongWords> {};

TEST_P(WrongCommandLine, Launched_RefusedInOneSentence) {
  const WrongWords& row = GetParam();
  expect_refusal(support::run(launch(row.words)), row.exit_status, row.parts);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, WrongCommandLine,
    ::testing::Values(
        WrongWords{"UnknownFlag", {"--num-proceses", "2", "/bin/true"}, 2, {"--num-proceses", "--num-processes"}},
        WrongWords{"AbbreviatedFlag", {"--num-proc", "2", "/bin/true"}, 2, {"--num-proc", "--num-processes"}},
        WrongWords{"Contradiction",
                   {"--cpu", "--multi-gpu", "--num-processes", "2", "/bin/true"},
                   2,
                   {"--cpu", "--multi-gpu"}},
        WrongWords{"PythonTemplate",
                   {"--template", "--num-processes", "2", "train.py"},
                   2,
                   {"--template", "train.py", "Python module"}},
        WrongWords{"ModuleWithoutPython", {"-m", "--no-python", "http.server"}, 2, {"--module", "--no-python"}},
        WrongWords{"TwoNumbersOfProcesses",
                   {"--num-processes", "2", "--nproc-per-node", "3", "/bin/true"},
                   2,
                   {"--num-processes", "--nproc-per-node"}},
        WrongWords{"ZeroProcesses", {"--num-processes", "0", "/bin/true"}, 2, {"--num-processes", "'0'"}},
        WrongWords{"NegativeProcesses", {"--num-processes", "-1", "/bin/true"}, 2, {"--num-processes", "'-1'"}},
        WrongWords{"ProcessesInLetters", {"--num-processes", "abc", "/bin/true"}, 2, {"--num-processes", "'abc'"}},
        WrongWords{
            "TooManyProcesses", {"--num-processes", "1000000000", "/bin/true"}, 2, {"--num-processes", "'1000000000'"}},
        WrongWords{"MachineOutsideTheJob",
                   {"--num-processes", "2", "--num-machines", "2", "--machine-rank", "2", "/bin/true"},
                   2,
                   {"--machine-rank", "'2'"}},
        WrongWords{"RankOutsideTheWorld",
                   {"--num-processes", "2", "--interactive-rank", "5", "/bin/true"},
                   2,
                   {"--interactive-rank", "5"}},
        WrongWords{"LocalRankOutsideTheNode",
                   {"--num-processes", "2", "--local-ranks-filter", "7", "/bin/true"},
                   2,
                   {"--local-ranks-filter", "7"}},
        WrongWords{"NoProgram", {"--num-processes", "2"}, 2, {"PROGRAM"}},
        WrongWords{"MissingProgram", {"--num-processes", "2", "no-such-program"}, 127, {"no-such-program"}},
        WrongWords{"MissingScript", {"--num-processes", "2", "no/such/script.py"}, 127, {"no/such/script.py"}},
        WrongWords{"Directory", {"--num-processes", "2", "/tmp"}, 126, {"/tmp", "directory"}},
        WrongWords{"MissingPython", {"--python", "/no/such/python", "-m", "http.server"}, 127, {"/no/such/python"}},
        WrongWords{"UnwritableLogDirectory",
                   {"--log-dir", "/proc/no-such-place", "/bin/true"},
                   2,
                   {"--log-dir", "/proc/no-such-place"}}),
    [](const auto& row) { return row.param.name; });

TEST_F(BadInput, ScriptWithoutPermission_IsRunByPythonWithANote) {
  const auto script = scratch().write("script", "print('hello from python')\n");

  const Ended ended = support::run(launch({"--python", "/usr/bin/python3", script}));

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "hello from python\n");
  EXPECT_NE(ended.err.find("no execute permission: it is run by /usr/bin/python3"), std::string::npos);
}

TEST_F(BadInput, ScriptWithoutPermissionAndNoPython_Is126) {
  const auto script = scratch().write("script", "exit 0\n");
  expect_refusal(support::run(launch({"--no-python", script})), 126, {script.string(), "execute permission"});
}

// The start itself tells of these: the program was there and executable.
TEST_F(BadInput, MissingInterpreterOfAScript_Is127AndNamesTheScript) {
  const auto script = scratch().write("script", "#!/no/such/interpreter\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);

  const Ended ended = support::run(launch({"--num-processes", "2", script}));

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 127);
  EXPECT_TRUE(ended.err.starts_with("forklift: Rank 0 could not be started: " + script.string()));
  EXPECT_EQ(report()["root_cause"]["category"], "failed_to_start");
}

TEST_F(BadInput, FileOfNoFormat_Is126AndNamesTheFile) {
  const auto program = scratch().write("program", "neither a script nor a binary");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);

  const Ended ended = support::run(launch({"--num-processes", "2", program}));

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 126);
  EXPECT_TRUE(ended.err.starts_with("forklift: Rank 0 could not be started: " + program.string()));
}

TEST_F(BadInput, UnwritableStateDirectory_FallsBackWithAWarning) {
  Command command = launch({"--num-processes", "2", "/bin/true"});
  command.environment["XDG_STATE_HOME"] = "/proc/no-such-place";

  const Ended ended = support::run(command);

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(lines_of(ended.err).size(), 1U);
  EXPECT_NE(ended.err.find("forklift: warning: cannot write to '/proc/no-such-place/forklift/runs'"),
            std::string::npos);
  EXPECT_NE(ended.err.find(temporary().string()), std::string::npos);
}

TEST_F(BadInput, FixedPortInUse_NamesTheHolder) {
  const Descriptor holder(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(holder.get(), generic, length), 0);
  ASSERT_EQ(::listen(holder.get(), 1), 0);
  ASSERT_EQ(::getsockname(holder.get(), generic, &length), 0);
  const std::string port = std::to_string(::ntohs(address.sin_port));

  const Ended ended = support::run(launch({"--num-processes", "2", "--main-process-port", port, "/bin/true"}));

  expect_refusal(ended, 2, {"port " + port, "pid " + std::to_string(::getpid())});
}

TEST_F(BadInput, EnvironmentOfHundredThousandVariables_ReachesTheReplicas) {
  Command command = launch({"--num-processes", "2", FORKLIFT_CHILD_PROGRAM, "print-env", "V0", "V99999"});
  for (int i = 0; i < 100'000; ++i) command.environment["V" + std::to_string(i)] = "1";

  const Ended ended = support::run(command);

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(support::sorted_lines(ended.out), (Words{"[0] V0=1", "[0] V99999=1", "[1] V0=1", "[1] V99999=1"}));
}

TEST_F(BadInput, EnvironmentThatIsTooLargeForReplicasOnly_IsNamed) {
  // The largest environment with which forklift itself can be started leaves no room for the variables of a replica.
  constexpr std::size_t limit = std::size_t{256} << 10;  // A quarter of the stack.
  constexpr std::size_t step = 512;
  Command command = launch({"--num-processes", "2", "--cpu", "/bin/true"});
  Ended ended;
  for (std::size_t bytes = limit; bytes > 0 && !ended.err.starts_with("forklift: "); bytes -= step) {
    for (int piece = 0; piece < 4; ++piece) {
      command.environment["FILLER" + std::to_string(piece)] = std::string(bytes / 4, 'x');
    }
    ended = support::run(prepared_by("ulimit -s 1024", command));
    ASSERT_NE(ended.exit_code, 0) << "it did fit";
  }
  EXPECT_EQ(ended.exit_code, 126) << ended;
  EXPECT_NE(ended.err.find(" could not be started: the arguments and the environment"), std::string::npos) << ended;
}

}  // namespace
}  // namespace forklift
