// The start seam with real processes. Where a test answers a bug of Boost.Process 1.81's own launchers (which are not
// used), its comment names the bug, so that a newer Boost can be judged by these tests.
#include "launcher/system/spawn.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "launcher/system/clone_launcher.hpp"
#include "launcher/system/reap.hpp"
#include "tests/support/child_command.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

/// An image of one command, with its storage; the standard streams are ours unless changed.
class Command {
 public:
  explicit Command(std::vector<std::string> words) : words_(std::move(words)) {
    for (const std::string& word : words_) argv_.push_back(word.c_str());
    argv_.push_back(nullptr);
    image.executable = argv_.front();
    image.argv = argv_.data();
    image.envp = environment_;
    image.launcher = ::getpid();
    sigemptyset(&image.signal_mask);
  }
  ChildImage image;

 private:
  std::vector<std::string> words_;
  std::vector<const char*> argv_;
  static constexpr const char* environment_[2] = {"MARK=frozen",
                                                  nullptr};  // Not moved with us: the image points at it.
};

Command child(const std::string& verb, const std::string& argument = "") {
  return Command(argument.empty() ? support::child(verb) : support::child(verb, {argument}));
}

struct Pipe {
  Descriptor reader, writer;
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
  }
  std::string read_all() {
    writer.close();
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(reader.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }
};

/// The launcher is used as spawn() does, and as Boost's protocol does.
class Spawn : public support::LeakChecked {
 protected:
  /// Blocks until the process has ended.
  static Reaped wait_for(const Spawned& process) {
    siginfo_t info{};
    EXPECT_EQ(::waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &info, WEXITED | WNOWAIT), 0);
    auto reaped = reap_by_pidfd(process.pidfd.get());
    EXPECT_TRUE(reaped.has_value());
    return reaped.value_or(Reaped{});
  }

  Outcome run(Command command) {
    auto started = spawn(command.image);
    if (auto* failed = std::get_if<FailedToStart>(&started)) return *failed;
    return wait_for(std::get<Spawned>(started)).outcome;
  }

  std::string output_of(Command command) {
    Pipe pipe;
    command.image.standard_streams[1] = pipe.writer.get();
    auto started = spawn(command.image);
    EXPECT_TRUE(std::holds_alternative<Spawned>(started));
    std::string text = pipe.read_all();
    if (auto* spawned = std::get_if<Spawned>(&started)) wait_for(*spawned);
    return text;
  }

  static void expect_failed(const Outcome& outcome, StartStep step, int error) {
    const auto* failed = std::get_if<FailedToStart>(&outcome);
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->step, step);
    EXPECT_EQ(failed->os_errno, error);
  }

  boost::asio::io_context io_{1};
};

TEST_F(Spawn, ExitCodes_AreExact) {
  for (const int code : {0, 1, 3, 9, 11, 127, 137, 255}) {
    EXPECT_EQ(run(child("exit", std::to_string(code))), Outcome(Exited{code}));
  }
}

// Boost: async_wait gives 11 both for `exit 11` and for SIGSEGV.
TEST_F(Spawn, SignalAndExitCodeOfTheSameNumber_Differ) {
  EXPECT_EQ(run(child("exit", "11")), Outcome(Exited{11}));
  const Outcome killed = run(child("raise-without-core", "SEGV"));
  ASSERT_TRUE(std::holds_alternative<Signalled>(killed));
  EXPECT_EQ(std::get<Signalled>(killed).signal, SIGSEGV);
}

// Boost: a failed exec leaves a zombie with both launchers. The leak check of the fixture would see it.
TEST_F(Spawn, MissingProgram_IsReportedAndLeavesNoZombie) {
  const Outcome outcome = run(Command({"/no/such/program"}));
  expect_failed(outcome, StartStep::execute, ENOENT);
  EXPECT_EQ(std::get<FailedToStart>(outcome).subject, "/no/such/program");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Spawn, UnusableFiles_AreToldApart) {
  const support::TemporaryDirectory folder;
  const auto make = [&](const std::string& name, const std::string& content, mode_t mode) {
    const std::string path = (folder.path() / name).string();
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path;
  };
  expect_failed(run(Command({make("plain", "text", 0644)})), StartStep::execute, EACCES);
  expect_failed(run(Command({make("no-format", "text", 0755)})), StartStep::execute, ENOEXEC);
  expect_failed(run(Command({make("bad-interpreter", "#!/no/such/interpreter\n", 0755)})), StartStep::execute, ENOENT);
  expect_failed(run(Command({folder.path().string()})), StartStep::execute, EACCES);
  expect_failed(run(Command({make("file", "", 0755) + "/below"})), StartStep::execute, ENOTDIR);
}

int atexit_runs = 0;

// Boost: on a failed exec the child calls exit(), so the parent's atexit handlers run, with vfork even on its memory.
TEST_F(Spawn, FailedExec_DoesNotRunOurExitHandlers) {
  std::atexit([] { ++atexit_runs; });
  expect_failed(run(Command({"/no/such/program"})), StartStep::execute, ENOENT);
  EXPECT_EQ(atexit_runs, 0);
}

TEST_F(Spawn, EachFailingStep_IsNamedWithItsErrno) {
  {
    Command command = child("exit", "0");
    command.image.working_directory = "/no/such/directory";
    expect_failed(run(std::move(command)), StartStep::working_directory, ENOENT);
  }
  {
    Command command = child("exit", "0");
    command.image.standard_streams[1] = 999'999;
    expect_failed(run(std::move(command)), StartStep::standard_streams, EBADF);
  }
  {
    cpu_set_t none;
    CPU_ZERO(&none);
    Command command = child("exit", "0");
    command.image.affinity = &none;
    command.image.affinity_bytes = sizeof none;
    expect_failed(run(std::move(command)), StartStep::affinity, EINVAL);
  }
  {
    const rlimit impossible{10, 5};
    Command command = child("exit", "0");
    command.image.open_files = &impossible;
    expect_failed(run(std::move(command)), StartStep::resource_limit, EINVAL);
  }
  {
    const Pipe no_terminal;
    Command command = child("exit", "0");
    command.image.foreground_of = no_terminal.reader.get();
    expect_failed(run(std::move(command)), StartStep::terminal, ENOTTY);
  }
  {
    Command command = child("exit", "0");
    command.image.launcher = ::getppid();  // As if the launcher had died before prctl.
    expect_failed(run(std::move(command)), StartStep::parent_death, ESRCH);
  }
}

// Boost: close_all skips entries, so descriptors without CLOEXEC leak into the child.
TEST_F(Spawn, ChildDescriptors_AreExactlyTheStandardOnes) {
  std::vector<Descriptor> inheritable;
  for (int i = 0; i < 5; ++i) inheritable.emplace_back(::dup(STDERR_FILENO));
  const std::string text = output_of(child("print-fds"));
  std::vector<std::string> numbers;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    numbers.push_back(text.substr(at, text.find_first_of(" \n", at) - at));
    if (text.find('\n', at) == std::string::npos) break;
  }
  EXPECT_EQ(numbers, (std::vector<std::string>{"0", "1", "2"})) << text;
}

TEST_F(Spawn, Environment_IsTheFrozenOneOnly) { EXPECT_EQ(output_of(Command({"/usr/bin/env"})), "MARK=frozen\n"); }

TEST_F(Spawn, GroupMaskAndLimits_AreThePlannedOnes) {
  const rlimit small{64, 64};
  Command command = child("print-limits");
  command.image.open_files = &small;
  EXPECT_NE(output_of(std::move(command)).find("64"), std::string::npos);
  Command signals({"/bin/grep", "SigBlk", "/proc/self/status"});
  EXPECT_NE(output_of(std::move(signals)).find("0000000000000000"), std::string::npos);
}

// Boost: EMFILE in pidfd_open after the fork throws and leaves the child running.
TEST_F(Spawn, NoDescriptorLeftForTheParent_LeavesNoRunningChild) {
  const Pipe any;
  boost::asio::posix::stream_descriptor first(io_, ::dup(any.reader.get()));  // From now on the loop has its own ones.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = ::dup(0);
  ::close(lowest_free);
  // One more descriptor fits (the pidfd itself), but not Boost's copy of it.
  const rlimit tight{static_cast<rlim_t>(lowest_free) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  Command command = child("hold");
  clone_launcher launcher;
  boost::system::error_code error;
  auto process = launcher(io_.get_executor(), error, command.image.executable, command.image.argv);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(error.value(), EMFILE);
  EXPECT_FALSE(process.is_open());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was left";
}

TEST_F(Spawn, LauncherOfBoostsProtocol_GivesAProcessThatRuns) {
  Command command = child("exit", "5");
  clone_launcher launcher;
  boost::system::error_code error;
  auto process = launcher(io_.get_executor(), error, command.image.executable, command.image.argv);
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(process.id(), launcher.pid);
  process.detach();
  EXPECT_EQ(wait_for({launcher.pid, std::move(launcher.pidfd)}).outcome, Outcome(Exited{5}));
}

// Boost: an error of on_exec_setup while errno is 0 is reported as success, and the child exits 1.
struct RefusingInitializer {
  boost::system::error_code on_exec_setup(clone_launcher&, const boost::filesystem::path&, const char* const*&) const {
    errno = 0;
    return {EPERM, boost::system::system_category()};
  }
};

TEST_F(Spawn, InitializerThatFailsInTheChild_IsAnError) {
  Command command = child("exit", "0");
  clone_launcher launcher;
  boost::system::error_code error;
  auto process =
      launcher(io_.get_executor(), error, command.image.executable, command.image.argv, RefusingInitializer{});
  EXPECT_EQ(error.value(), EPERM);
  EXPECT_FALSE(process.is_open());
}

// Boost: vfork_launcher recreates the reactor's descriptors in the parent's memory; with a hole in the descriptor table
// the parent's loop is broken afterwards.
TEST_F(Spawn, LoopOfTheParent_WorksAfterAStart) {
  Pipe pipe;
  boost::asio::posix::stream_descriptor reader(io_, pipe.reader.release());
  const Descriptor hole(::dup(0));
  enum class Seen { nothing, data } seen = Seen::nothing;
  reader.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [&](const boost::system::error_code& error) { seen = error ? Seen::nothing : Seen::data; });
  EXPECT_EQ(run(child("exit", "0")), Outcome(Exited{0}));
  ASSERT_EQ(::write(pipe.writer.get(), "x", 1), 1);
  io_.run();
  EXPECT_EQ(seen, Seen::data);
}

// Boost without pidfds overwrites the host's SIGCHLD handler.
TEST_F(Spawn, SignalHandlersAndMask_StayAsTheyWere) {
  struct sigaction before {
  }, after{};
  sigset_t mask_before, mask_after;
  ::sigaction(SIGCHLD, nullptr, &before);
  ::sigprocmask(SIG_SETMASK, nullptr, &mask_before);
  run(child("exit", "0"));
  ::sigaction(SIGCHLD, nullptr, &after);
  ::sigprocmask(SIG_SETMASK, nullptr, &mask_after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  for (int signal = 1; signal < NSIG; ++signal) {
    EXPECT_EQ(sigismember(&mask_before, signal), sigismember(&mask_after, signal)) << signal;
  }
}

// Boost waits with a blocking waitpid in the completion handler.
TEST_F(Spawn, ReapOfARunningProcess_DoesNotBlock) {
  Pipe hold;
  Command command = child("hold");
  command.image.standard_streams[0] = hold.reader.get();
  auto started = spawn(command.image);
  ASSERT_TRUE(std::holds_alternative<Spawned>(started));
  const auto& process = std::get<Spawned>(started);
  EXPECT_FALSE(reap_by_pidfd(process.pidfd.get()).has_value());
  hold.writer.close();
  EXPECT_EQ(wait_for(process).outcome, Outcome(Exited{0}));
}

TEST_F(Spawn, Usage_IsMeasured) {
  const Descriptor null_device(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Command command = child("allocate", "64");
  command.image.standard_streams[0] = null_device.get();
  auto started = spawn(command.image);
  ASSERT_TRUE(std::holds_alternative<Spawned>(started));
  EXPECT_GE(wait_for(std::get<Spawned>(started)).peak_rss_bytes, std::uint64_t{64} << 20);
}

TEST_F(Spawn, StatusTakenByOtherCode_IsRecoveredOrLostButNeverAHang) {
  Command command = child("exit", "7");
  auto started = spawn(command.image);
  ASSERT_TRUE(std::holds_alternative<Spawned>(started));
  const auto& process = std::get<Spawned>(started);
  int status = 0;
  ASSERT_EQ(::waitpid(process.pid, &status, 0), process.pid);  // The thief.
  const auto reaped = reap_by_pidfd(process.pidfd.get());
  ASSERT_TRUE(reaped.has_value());
  EXPECT_TRUE(reaped->outcome == Outcome(Exited{7}) || std::holds_alternative<Lost>(reaped->outcome));
}

// The sum of many starts must not grow faster than their number; here only that none is lost.
TEST_F(Spawn, ManyAtOnce_AllEndAsPlanned) {
  std::vector<Spawned> processes;
  for (int i = 0; i < 200; ++i) {
    Command command = child("exit", std::to_string(i));
    auto started = spawn(command.image);
    ASSERT_TRUE(std::holds_alternative<Spawned>(started));
    processes.push_back(std::move(std::get<Spawned>(started)));
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(wait_for(processes[static_cast<std::size_t>(i)]).outcome, Outcome(Exited{i}));
  }
}

}  // namespace
}  // namespace forklift
