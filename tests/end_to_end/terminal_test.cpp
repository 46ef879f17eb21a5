// A job with a person in front of it: debugger, Ctrl-Z, Ctrl-C, and a terminal that is left as it was found.
#include <signal.h>

#include <string>
#include <vector>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift {
namespace {

using namespace support;

const std::string interrupt_key = "\x03";
const std::string stop_key = "\x1a";

class Terminal : public SupervisedJobTest {
 protected:
  static Command on_terminal(Command command) {
    command.streams = Streams::terminal;
    command.environment["TERM"] = "dumb";
    command.environment["LC_ALL"] = "C.UTF-8";
    command.unset.emplace_back("PROMPT_COMMAND");
    return command;
  }

  /// What a person does: a shell with job control on a terminal, in which commands are typed.
  [[nodiscard]] Command shell_on_terminal() const {
    Command command = on_terminal(launch({}));
    command.argv = {"bash", "--norc", "--noprofile", "--noediting", "-i"};
    command.environment["PS1"] = "prompt> ";
    return command;
  }

  /// Shows the terminal's settings before and after a job, and how the job ended.
  [[nodiscard]] Command between_settings(const Words& words) const {
    Command command = on_terminal(launch(words));
    command.argv =
        Words{"bash", "-c", "echo before=$(stty -g); \"$@\"; echo status=$?; echo after=$(stty -g)", "bash"} +
        command.argv;
    return command;
  }

  static void expect_same_settings(const Ended& ended) {
    const std::string before = value_of("before=", ended.out);
    EXPECT_FALSE(before.empty()) << ended;
    EXPECT_EQ(before, value_of("after=", ended.out)) << ended;
  }

 private:
  static std::string value_of(const std::string& name, const std::string& text) {
    const auto at = text.find(name);
    if (at == std::string::npos) return {};
    return text.substr(at + name.size(), text.find_first_of("\r\n", at) - at - name.size());
  }
};

constexpr const char* debugged_program =
    "import os\n"
    "answer = 40\n"
    "if os.environ.get('RANK', '0') == os.environ.get('BREAK_IN', '0'):\n"
    "    breakpoint()\n"
    "    print('the debugger left', answer + 2)\n";

TEST_F(Terminal, BreakpointInWorldOfOne_IsADebuggerSession) {
  const std::string program = scratch().write("debugged.py", debugged_program).string();
  RunningProcess job(on_terminal(launch({program})));
  ASSERT_TRUE(job.wait_for_out("(Pdb)"));
  job.write_input("answer * 1000 + 1\n");
  ASSERT_TRUE(job.wait_for_out("40001"));
  job.write_input("continue\n");
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_NE(ended.out.find("the debugger left 42"), std::string::npos) << ended;
}

TEST_F(Terminal, FailureInWorldOfOne_SaysThatStderrWasNotKept) {
  const Ended ended = run(on_terminal(launch(shell("echo no such dataset >&2; exit 3"))));
  EXPECT_EQ(ended.exit_code, 3) << ended;
  EXPECT_NE(ended.out.find("its stderr was the terminal and was not kept"), std::string::npos) << ended;
  EXPECT_EQ(ended.out.find("printed nothing"), std::string::npos) << ended;
}

TEST_F(Terminal, BreakpointInInteractiveRank_LeavesTheOthersAlone) {
  const std::string program = scratch().write("debugged.py", debugged_program).string();
  Command command = on_terminal(launch({"--num-processes", "2", "--interactive-rank", "1", program}));
  command.environment["BREAK_IN"] = "1";
  RunningProcess job(command);
  ASSERT_TRUE(job.wait_for_out("(Pdb)"));
  EXPECT_TRUE(eventually([this] { return events_reach("replica_exited", 1); })) << "rank 0 has nothing to wait for";
  job.write_input("answer * 1000 + 1\n");
  ASSERT_TRUE(job.wait_for_out("40001"));
  job.write_input("continue\n");
  const Ended ended = job.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(outcomes(), (Words{"exited 0", "exited 0"}));
}

TEST_F(Terminal, InterruptKeyInWorldOfOne_EndsReplicaAndGuardBySigint) {
  RunningProcess job(on_terminal(launch(child("ready-then-hold"))));
  ASSERT_TRUE(job.wait_for_out("ready"));
  job.write_input(interrupt_key);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.signal, SIGINT) << ended;
  EXPECT_EQ(report()["result"], "interrupted");
  EXPECT_EQ(outcomes(), (Words{"SIGINT"}));
}

TEST_F(Terminal, InterruptKeyInPythonWorldOfOne_ShowsItsTracebackAndStops) {
  const std::string program =
      scratch().write("waiting.py", "import signal\nprint('ready', flush=True)\nsignal.pause()\n").string();
  RunningProcess job(on_terminal(launch({program})));
  ASSERT_TRUE(job.wait_for_out("ready"));
  job.write_input(interrupt_key);
  const Ended ended = job.wait();
  EXPECT_EQ(ended.signal, SIGINT) << ended;
  EXPECT_NE(ended.out.find("KeyboardInterrupt"), std::string::npos) << ended;
}

struct StoppedJob {
  const char* what;
  Words words;
  Words ready;  ///< What the terminal shows of each rank.
};

TEST_F(Terminal, StopKey_StopsTheJobForTheShellUntilForeground) {
  const Words program = child("ready-then-hold");
  const StoppedJob table[] = {
      {"a world of one, which has the terminal", replicas(1, program), {"\nready"}},
      {"a world of two, which has not", replicas(2, program), {"[0] ready", "[1] ready"}},
      {"rank 1 of two has it", Words{"--interactive-rank", "1"} + replicas(2, program), {"[0] ready", "\nready"}},
  };
  for (const StoppedJob& stopped : table) {
    SCOPED_TRACE(stopped.what);
    RunningProcess person(shell_on_terminal());
    ASSERT_TRUE(person.wait_for_out("prompt> "));
    std::string typed;
    for (const std::string& word : launch(Words{"--color", "never"} + stopped.words).argv) typed += "'" + word + "' ";
    person.write_input(typed + "\n");
    for (const std::string& text : stopped.ready) ASSERT_TRUE(person.wait_for_out(text));
    const auto expect_replicas = [&](char state) {
      for (int rank = 0; rank < static_cast<int>(stopped.ready.size()); ++rank) {
        EXPECT_TRUE(eventually([&] { return state_is(replica_pid(rank), state); })) << "rank " << rank;
      }
    };

    person.write_input(stop_key);
    ASSERT_TRUE(person.wait_for_out("Stopped"));
    expect_replicas('T');
    person.write_input("fg\n");
    expect_replicas('S');
    person.write_input(interrupt_key);  // Reaches the job only if it has the terminal again.
    ASSERT_TRUE(eventually([this] { return report().is_object(); }));
    person.write_input("echo status $?.\nexit 0\n");
    const Ended ended = person.wait();
    EXPECT_NE(ended.out.find("status 130."), std::string::npos) << ended;
  }
}

// A container's terminal: forklift is the first process of its session, and no shell could continue it.
TEST_F(Terminal, StopKeyWithoutAShell_LetsTheJobGoOn) {
  const Words program = shell("trap 'echo continued' CONT; echo ready; while :; do sleep 1000 & wait; done");
  for (const int world_size : {1, 2}) {
    SCOPED_TRACE(world_size);
    RunningProcess job(on_terminal(launch(replicas(world_size, program))));
    ASSERT_TRUE(job.wait_for_out("ready"));
    job.write_input(stop_key);
    ASSERT_TRUE(job.wait_for_out("continued"));
    job.write_input(interrupt_key);
    EXPECT_EQ(job.wait().signal, SIGINT);
  }
}

TEST_F(Terminal, LeftRawByAKilledReplica_IsAsBefore) {
  const Ended ended = run(between_settings(shell("stty raw -echo; kill -KILL $$")));
  expect_same_settings(ended);
  EXPECT_NE(ended.out.find("status=137"), std::string::npos) << ended;
}

TEST_F(Terminal, LeftRawWhenTheSupervisorIsKilled_IsAsBefore) {
  RunningProcess job(between_settings(shell("stty raw -echo; echo raw; exec sleep 1000")));
  ASSERT_TRUE(job.wait_for_out("raw\n"));
  ::kill(supervisor_pid(), SIGKILL);
  const Ended ended = job.wait();
  expect_same_settings(ended);
  EXPECT_NE(ended.out.find("status=125"), std::string::npos) << ended;
}

}  // namespace
}  // namespace forklift
