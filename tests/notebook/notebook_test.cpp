// notebook_launcher from a host program, which is this test program: what comes back, and what is left alone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "forklift/notebook_launcher.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

using namespace support;

class Notebook : public LeakChecked {
 protected:
  Notebook() {
    ::setenv("XDG_STATE_HOME", scratch_.path().c_str(), 1);
    ::setenv("FORKLIFT_TEST_MARKER", marker_.c_str(), 1);
  }
  ~Notebook() override {
    EXPECT_TRUE(eventually([this] { return marked_count_is(marker_, 0); }));
    ::unsetenv("FORKLIFT_TEST_MARKER");
    ::unsetenv("XDG_STATE_HOME");
  }

  [[nodiscard]] static NotebookOptions options(int replicas, std::vector<std::string> more = {}) {
    NotebookOptions options;
    options.num_processes = replicas;
    options.launch_options = std::move(more);
    options.launch_options.emplace_back("--cpu");
    options.binary = FORKLIFT_BINARY;
    return options;
  }

  TemporaryDirectory scratch_;
  std::string marker_ = new_marker();
};

template <class T>
std::vector<T> all(const NotebookReport& report) {
  std::vector<T> values;
  for (const ReplicaValue& value : report.values) values.push_back(std::get<T>(value));
  return values;
}

// ---- what comes back ----

TEST_F(Notebook, WholeNumbers_ComeBackByRank) {
  const int base = 40;  // Of the host, and seen by every replica.
  const auto report = notebook_launcher([&](Replica& self) { return base + self.rank(); }, options(4));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report.value().succeeded());
  EXPECT_EQ(all<std::int64_t>(report.value()), (std::vector<std::int64_t>{40, 41, 42, 43}));
  EXPECT_EQ(report.value().run.replicas.size(), 4U);
}

TEST_F(Notebook, EveryKindOfResult_ComesBackAsItWas) {
  const auto numbers = notebook_launcher([](Replica&) { return std::nan(""); }, options(2));
  ASSERT_TRUE(numbers) << numbers.error().message;
  EXPECT_TRUE(std::isnan(std::get<double>(numbers.value().values.at(1))));
  const auto truths = notebook_launcher([](Replica& self) { return self.rank() == 1; }, options(2));
  ASSERT_TRUE(truths) << truths.error().message;
  EXPECT_EQ(all<bool>(truths.value()), (std::vector<bool>{false, true}));
  const auto large = notebook_launcher([](Replica&) { return UINT64_MAX; }, options(2));
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(all<std::uint64_t>(large.value()), (std::vector<std::uint64_t>{UINT64_MAX, UINT64_MAX}));
  const auto texts = notebook_launcher(
      [](Replica& self) { return std::string(300'000, static_cast<char>('a' + self.rank())); }, options(2));
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_EQ(std::get<std::string>(texts.value().values.at(1)), std::string(300'000, 'b'));
  const auto bytes = notebook_launcher([](Replica&) { return Bytes{std::byte{0}, std::byte{255}}; }, options(2));
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(std::get<Bytes>(bytes.value().values.at(0)), (Bytes{std::byte{0}, std::byte{255}}));
  const auto nothing = notebook_launcher([](Replica&) {}, options(2));
  ASSERT_TRUE(nothing) << nothing.error().message;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(nothing.value().values.at(0)));
}

TEST_F(Notebook, ReplicaKnowsItself_AndItsEnvironment) {
  const auto report = notebook_launcher(
      [](Replica& self) {
        return std::to_string(self.rank()) + "/" + std::to_string(self.world_size()) + " " +
               std::to_string(self.local_rank()) + " " + std::getenv("RANK") + " " +
               (std::getenv("MASTER_PORT") != nullptr ? "port" : "") +
               (std::getenv("FORKLIFT_TEMPLATE") != nullptr ? " template" : "");
      },
      options(3));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(all<std::string>(report.value()),
            (std::vector<std::string>{"0/3 0 0 port", "1/3 1 1 port", "2/3 2 2 port"}));
  EXPECT_EQ(std::getenv("RANK"), nullptr);
}

TEST_F(Notebook, Exception_ArrivesWithTypeTextAndRank) {
  const auto report = notebook_launcher(
      [](Replica& self) {
        if (self.rank() == 1) throw std::out_of_range("sample 7: no such sample");
        for (;;) ::pause();
      },
      options(3));
  ASSERT_TRUE(report) << report.error().message;
  const RunReport& run = report.value().run;
  EXPECT_EQ(run.result, RunResult::failed);
  EXPECT_EQ(run.exit_status, 1);
  ASSERT_TRUE(run.root_cause);
  EXPECT_EQ(run.root_cause->rank, Rank{1});
  EXPECT_EQ(run.root_cause->diagnosis.category, Category::cpp_exception);
  EXPECT_NE(run.root_cause->diagnosis.summary.find("std::out_of_range: sample 7: no such sample"), std::string::npos)
      << run.root_cause->diagnosis.summary;
}

TEST_F(Notebook, ThrownNumber_IsNamedByItsType) {
  const auto report = notebook_launcher(
      [](Replica& self) {
        if (self.rank() == 0) throw 42;
      },
      options(2));
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report.value().run.root_cause);
  EXPECT_NE(report.value().run.root_cause->diagnosis.summary.find("raised int"), std::string::npos)
      << report.value().run.root_cause->diagnosis.summary;
}

TEST_F(Notebook, Crash_IsTheRootCauseAndTheOthersAreCollateral) {
  const auto report = notebook_launcher(
      [](Replica& self) {
        if (self.rank() == 2) ::raise(SIGSEGV);
        for (;;) ::pause();
      },
      options(4));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report.value().run.exit_status, 128 + SIGSEGV);
  ASSERT_TRUE(report.value().run.root_cause);
  EXPECT_EQ(report.value().run.root_cause->rank, Rank{2});
  EXPECT_TRUE(std::holds_alternative<std::monostate>(report.value().values.at(0)));
}

TEST_F(Notebook, Restart_ForksAgainAndOnlyTheLastAttemptCounts) {
  const auto report = notebook_launcher(
      [](Replica& self) {
        if (self.attempt() == 0 && self.rank() == 0) std::_Exit(9);
        return self.attempt();
      },
      options(2, {"--max-restarts", "1"}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report.value().succeeded());
  EXPECT_EQ(report.value().run.attempts.size(), 2U);
  EXPECT_EQ(all<std::int64_t>(report.value()), (std::vector<std::int64_t>{1, 1}));
}

TEST_F(Notebook, Sink_GetsPrefixedLinesOnTheCallingThread) {
  NotebookOptions with_sink = options(2);
  std::string out;
  std::string err;
  const auto caller = std::this_thread::get_id();
  with_sink.sink = [&](SinkStream stream, std::string_view text) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    (stream == SinkStream::standard_output ? out : err).append(text);
  };
  const auto report = notebook_launcher(
      [](Replica& self) {
        std::printf("out of %d\n", self.rank());
        std::fprintf(stderr, "err of %d\n", self.rank());
      },
      with_sink);
  ASSERT_TRUE(report) << report.error().message;
  for (const char* line : {"[0] out of 0\n", "[1] out of 1\n"}) EXPECT_NE(out.find(line), std::string::npos) << out;
  for (const char* line : {"[0] err of 0\n", "[1] err of 1\n"}) EXPECT_NE(err.find(line), std::string::npos) << err;
}

TEST_F(Notebook, OneProcess_RunsInThisOne) {
  const pid_t self = ::getpid();
  const auto report =
      notebook_launcher([&](Replica& me) { return me.world_size() == 1 && ::getpid() == self; }, options(1));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(all<bool>(report.value()), std::vector<bool>{true});
  const auto failed = notebook_launcher([](Replica&) { throw std::runtime_error("here"); }, options(1));
  ASSERT_TRUE(failed) << failed.error().message;
  EXPECT_EQ(failed.value().run.exit_status, 1);
  EXPECT_NE(failed.value().run.root_cause->diagnosis.summary.find("here"), std::string::npos);
}

// ---- what is refused ----

TEST_F(Notebook, WrongOption_IsAUsageErrorAndNothingRuns) {
  const auto report = notebook_launcher([](Replica&) { std::_Exit(3); }, options(2, {"--max-restart", "1"}));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::usage);
  EXPECT_NE(report.error().message.find("--max-restarts"), std::string::npos) << report.error().message;
}

TEST_F(Notebook, NumberOfProcessesOutOfRange_IsAUsageError) {
  for (const int wrong : {0, -1, 1'000'001}) {
    const auto report = notebook_launcher([](Replica&) {}, options(wrong));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::usage);
  }
}

TEST_F(Notebook, MissingBinary_IsNamed) {
  NotebookOptions nowhere = options(2);
  nowhere.binary = "/nowhere/forklift";
  const auto report = notebook_launcher([](Replica&) {}, nowhere);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::not_found);
  EXPECT_NE(report.error().message.find("/nowhere/forklift"), std::string::npos);
}

TEST_F(Notebook, BinaryThatIsNoForklift_IsAnErrorAndNothingIsLeft) {
  NotebookOptions other = options(2);
  other.binary = "/bin/true";
  const auto report = notebook_launcher([](Replica&) {}, other);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::system);
}

// ---- what is left alone ----

TEST_F(Notebook, OtherChildrenOfTheHost_StayItsOwn) {
  const pid_t own = ::fork();
  if (own == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto report = notebook_launcher(
      [&](Replica&) {
        // The host's child is not the replica's.
        return ::waitpid(own, nullptr, WNOHANG) < 0;
      },
      options(2));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(all<bool>(report.value()), (std::vector<bool>{true, true}));
  ::kill(own, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(-1, &status, 0), own);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

std::atomic<int> child_signals{0};

TEST_F(Notebook, HostHearsOfNoChildOfOurs) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "under a sanitizer the fork between host and guard is a plain one";
#endif
  struct sigaction counting {};
  struct sigaction before {};
  counting.sa_handler = [](int) { ++child_signals; };
  ::sigaction(SIGCHLD, &counting, &before);
  child_signals = 0;
  const auto report = notebook_launcher([](Replica&) {}, options(4));
  ::sigaction(SIGCHLD, &before, nullptr);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(child_signals, 0);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(Notebook, HostThatIgnoresItsChildren_GetsItsReport) {
  struct sigaction ignoring {};
  struct sigaction before {};
  ignoring.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignoring, &before);
  const auto report = notebook_launcher([](Replica& self) { return self.rank(); }, options(3));
  struct sigaction now {};
  ::sigaction(SIGCHLD, &before, &now);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(all<std::int64_t>(report.value()), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(now.sa_handler, SIG_IGN);
}

TEST_F(Notebook, AtexitHandlersAndBuffers_AreTheHostsAlone) {
  const std::string path = scratch_ / "buffered";
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs("once\n", file);  // In the buffer while the replicas are forked.
  static bool in_replica = false;
  std::atexit([] {
    if (in_replica) std::_Exit(77);
  });
  const auto report = notebook_launcher([](Replica&) { in_replica = true; }, options(3));
  std::fclose(file);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report.value().succeeded());
  EXPECT_EQ(read_text(path), "once\n");
}

TEST_F(Notebook, ThreadThatEndsAfterTheCall_CanLaunch) {
  std::thread([&] {
    const auto report = notebook_launcher([](Replica& self) { return self.rank(); }, options(2));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report.value().succeeded());
    // The main thread waits in join(): it is the other thread here.
    EXPECT_EQ(report.value().notes.size(), 1U);
  }).join();
}

TEST_F(Notebook, DescriptorsOfTheHost_StandAtTheSameNumbersInReplicas) {
  const std::string path = scratch_.write("data", "content");
  std::FILE* file = std::fopen(path.c_str(), "r");
  const int number = ::fileno(file);
  const auto report = notebook_launcher(
      [&](Replica&) {
        char text[8] = {};
        return ::pread(number, text, 7, 0) == 7 && std::string(text) == "content";
      },
      options(3));
  std::fclose(file);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(all<bool>(report.value()), (std::vector<bool>{true, true, true}));
}

// ---- the end ----

TEST_F(Notebook, CtrlC_StopsTheReplicasAndTheHostsHandlerIsBack) {
  struct sigaction mine {};
  struct sigaction before {};
  mine.sa_handler = [](int) {};
  ::sigaction(SIGINT, &mine, &before);
  NotebookOptions with_sink = options(2);
  with_sink.sink = [](SinkStream, std::string_view text) {
    if (text.find("ready of 0") != std::string_view::npos) ::kill(::getpid(), SIGINT);
  };
  const auto report = notebook_launcher(
      [](Replica& self) {
        ::signal(SIGINT, SIG_DFL);  // The host's handler, which the replica has inherited, would let it live on.
        std::printf("ready of %d\n", self.rank());
        std::fflush(stdout);
        for (;;) ::pause();
      },
      with_sink);
  struct sigaction now {};
  ::sigaction(SIGINT, &before, &now);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report.value().run.result, RunResult::interrupted);
  EXPECT_EQ(report.value().run.exit_status, 130);
  EXPECT_EQ(now.sa_handler, mine.sa_handler);
  // The host program goes on, and can do it again.
  const auto again = notebook_launcher([](Replica& self) { return self.rank(); }, options(2));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again.value().succeeded());
}

TEST_F(Notebook, HostKilled_LeavesNothing) {
  const std::string ready = scratch_ / "ready";
  const pid_t host = ::fork();
  if (host == 0) {
    std::ignore = notebook_launcher(
        [&](Replica& self) {
          if (self.rank() == 1) ::creat(ready.c_str(), 0600);
          for (;;) ::pause();
        },
        options(3));
    ::_exit(0);
  }
  EXPECT_TRUE(eventually([&] { return ::access(ready.c_str(), F_OK) == 0; }));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  EXPECT_TRUE(eventually([this] { return marked_count_is(marker_, 0); }));
}

TEST_F(Notebook, SupervisorKilled_IsAnErrorAndLeavesNothing) {
  NotebookOptions with_sink = options(2);
  with_sink.sink = [](SinkStream, std::string_view text) {
    const auto found = text.find("supervisor ");
    if (found != std::string_view::npos) ::kill(std::atoi(text.data() + found + 11), SIGKILL);
  };
  const auto report = notebook_launcher(
      [](Replica& self) {
        if (self.rank() == 0) std::printf("supervisor %d\n", ::getppid());
        std::fflush(stdout);
        for (;;) ::pause();
      },
      with_sink);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::system);
  EXPECT_TRUE(eventually([this] { return marked_count_is(marker_, 0); }));
}

TEST_F(Notebook, ThousandRounds_LeaveNothingBehind) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr int rounds = 50;
#else
  constexpr int rounds = 1000;
#endif
  for (int round = 0; round < rounds; ++round) {
    const auto report = notebook_launcher([&](Replica& self) { return round + self.rank(); }, options(2));
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(all<std::int64_t>(report.value()), (std::vector<std::int64_t>{round, round + 1}));
  }
}

}  // namespace
}  // namespace forklift
