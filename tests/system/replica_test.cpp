// Who a replica is, its heartbeats and its last words, each in a process of its own: these read the environment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "forklift/worker.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"
#include "worker/format/error_file.hpp"
#include "worker/format/heartbeat.hpp"

namespace forklift {
namespace {

using support::read_text;
using Variables = std::map<std::string, std::string>;

constexpr const char* own_variables[] = {"RANK",
                                         "LOCAL_RANK",
                                         "WORLD_SIZE",
                                         "LOCAL_WORLD_SIZE",
                                         "FORKLIFT_ATTEMPT",
                                         "FORKLIFT_RUN_DIR",
                                         "FORKLIFT_TEMPLATE",
                                         "FORKLIFT_CONTROL_FD"};

class ReplicaOf : public support::LeakChecked {
 protected:
  struct Ended {
    int status = -1;
    std::string err;
  };

  /// Runs `program` in a child with these of forklift's variables only. Its stderr is read from a file.
  Ended with(const Variables& variables, const std::function<int()>& program) const {
    const std::string err = folder_ / "stderr";
    ::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      const int file = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      ::dup2(file, STDERR_FILENO);
      for (const char* name : own_variables) ::unsetenv(name);
      for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
      const int code = program();
      ::fflush(nullptr);
      ::_exit(code);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(err)};
  }

  [[nodiscard]] Variables supervised(int rank, int attempt = 0) const {
    return {{"RANK", std::to_string(rank)},
            {"WORLD_SIZE", "8"},
            {"FORKLIFT_ATTEMPT", std::to_string(attempt)},
            {"FORKLIFT_RUN_DIR", run()}};
  }

  [[nodiscard]] std::string run() const { return folder_.path() / "run"; }
  [[nodiscard]] std::string heartbeats() const { return read_text(heartbeat_file(run())); }
  [[nodiscard]] std::string error_file(const std::string& name) const { return read_text(run() + "/errors/" + name); }

  void SetUp() override { ASSERT_EQ(::mkdir(run().c_str(), 0700), 0); }

 private:
  support::TemporaryDirectory folder_;
};

// ---- who it is ----------------------------------------------------------------------------------------------------

TEST_F(ReplicaOf, NoJob_IsRankZeroOfOne) {
  EXPECT_EQ(with({},
                 [] {
                   const Replica self = Replica::from_environment();
                   return self.rank() == 0 && self.local_rank() == 0 && self.world_size() == 1 &&
                                  self.local_world_size() == 1 && self.attempt() == 0 && !self.supervised() &&
                                  self.run_directory().empty()
                              ? 0
                              : 1;
                 })
                .status,
            0);
}

TEST_F(ReplicaOf, Job_IsReadFromItsVariables) {
  Variables variables = supervised(5, 2);
  variables["LOCAL_RANK"] = "1";
  variables["LOCAL_WORLD_SIZE"] = "4";
  const auto seen = with(variables, [this] {
    const Replica self = Replica::from_environment();
    return self.rank() == 5 && self.local_rank() == 1 && self.world_size() == 8 && self.local_world_size() == 4 &&
                   self.attempt() == 2 && self.supervised() && self.run_directory() == run()
               ? 0
               : 1;
  });
  EXPECT_EQ(seen.status, 0);
}

TEST_F(ReplicaOf, VariablesThatAreNoNumbers_AreAsIfAbsent) {
  for (const char* const odd : {"", "x", "-1", "1x", "99999999999999999999", " 1", "1.5"}) {
    const auto seen = with({{"RANK", odd}, {"WORLD_SIZE", odd}}, [] {
      const Replica self = Replica::from_environment();
      return self.rank() == 0 && self.world_size() == 1 ? 0 : 1;
    });
    EXPECT_EQ(seen.status, 0) << "'" << odd << "'";
  }
  EXPECT_EQ(with({{"WORLD_SIZE", "0"}}, [] { return Replica::from_environment().world_size(); }).status, 1);
}

// ---- fork points outside of a template ----------------------------------------------------------------------------

TEST_F(ReplicaOf, ForkPointOutsideOfATemplate_ReturnsAtOnce) {
  EXPECT_EQ(with(supervised(3), [] { return fork_point().rank(); }).status, 3);
}

TEST_F(ReplicaOf, SecondForkPoint_IsALogicError) {
  const auto seen = with(supervised(3), [] {
    fork_point();
    try {
      fork_point();
    } catch (const std::logic_error& error) {
      std::fputs(error.what(), stderr);
      return 0;
    }
    return 1;
  });
  EXPECT_EQ(seen.status, 0);
  EXPECT_NE(seen.err.find("second time"), std::string::npos) << seen.err;
}

TEST_F(ReplicaOf, TemplateWithoutItsSocket_IsARuntimeError) {
  for (const char* const descriptor : {"", "0", "999999", "-1", "x"}) {
    const auto seen = with({{"FORKLIFT_TEMPLATE", "1"}, {"FORKLIFT_CONTROL_FD", descriptor}}, [] {
      try {
        fork_point();
      } catch (const std::runtime_error& error) {
        std::fputs(error.what(), stderr);
        return 0;
      }
      return 1;
    });
    EXPECT_EQ(seen.status, 0) << descriptor;
    EXPECT_NE(seen.err.find("names no socket of a launcher"), std::string::npos) << seen.err;
  }
}

// ---- heartbeats ---------------------------------------------------------------------------------------------------

TEST_F(ReplicaOf, Heartbeat_IsItsLastStepInItsOwnSlot) {
  EXPECT_EQ(with(supervised(2, 1),
                 [] {
                   const Replica self = Replica::from_environment();
                   for (const int step : {1, 2, -7, 120}) self.heartbeat(step);
                   return 0;
                 })
                .status,
            0);
  with(supervised(0), [] { return Replica::from_environment().heartbeat(5), 0; });
  const std::string file = heartbeats();
  EXPECT_EQ(file.size(), 3 * heartbeat_bytes);
  const auto beat = heartbeat_of(file, Rank{2}, Attempt{1});
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->step, 120);
  EXPECT_GT(beat->mono_ns, 0);
  EXPECT_EQ(heartbeat_of(file, Rank{0}, Attempt{0})->step, 5);
  EXPECT_FALSE(heartbeat_of(file, Rank{1}, Attempt{0}).has_value());
}

TEST_F(ReplicaOf, HeartbeatAfterAFork_StaysInTheSlotOfTheRank) {
  with(supervised(1), [] {
    const Replica self = Replica::from_environment();
    self.heartbeat(1);
    const pid_t pid = ::fork();
    if (pid == 0) {
      self.heartbeat(2);
      ::_exit(0);
    }
    return ::waitpid(pid, nullptr, 0) == pid ? 0 : 1;
  });
  EXPECT_EQ(heartbeat_of(heartbeats(), Rank{1}, Attempt{0})->step, 2);
}

TEST_F(ReplicaOf, HeartbeatWithoutAJobOrAFolder_DoesNothing) {
  EXPECT_EQ(with({}, [] { return Replica::from_environment().heartbeat(1), 0; }).status, 0);
  Variables variables = supervised(0);
  variables["FORKLIFT_RUN_DIR"] = run() + "/gone";
  const auto seen = with(variables, [] {
    const Replica self = Replica::from_environment();
    for (int step = 0; step < 3; ++step) self.heartbeat(step);
    return 0;
  });
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.err, "");
  EXPECT_FALSE(std::filesystem::exists(heartbeat_file(run())));
}

TEST_F(ReplicaOf, HeartbeatOnAFullDisk_DoesNotEndTheReplica) {
  const auto seen = with(supervised(0), [] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    Replica::from_environment().heartbeat(1);
    return 0;
  });
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(heartbeat_of(heartbeats(), Rank{0}, Attempt{0}), std::nullopt);
}

// ---- last words ---------------------------------------------------------------------------------------------------

TEST_F(ReplicaOf, Failure_IsInTheErrorFileOfItsAttemptAndRank) {
  const auto seen = with(supervised(3, 2), [] {
    const Replica self = Replica::from_environment();
    self.report_failure("ValueError", "bad batch", "Traceback: here");
    self.report_failure("Other", "the second does not count");
    return 0;
  });
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.err, "");
  const auto file = parse_error_file(error_file("2-3.json"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->exception, (ExceptionLine{"ValueError", "bad batch"}));
  EXPECT_EQ(file->traceback, "Traceback: here");
  EXPECT_GT(file->timestamp_s.value_or(0), 1'700'000'000);
}

TEST_F(ReplicaOf, FailureOfEveryShape_HasWords) {
  const struct {
    const char* type;
    const char* text;
    ExceptionLine exception;
  } table[] = {
      {"ValueError", "", {"ValueError", ""}},
      {"", "no type", {"", "no type"}},
      {"", "", {"", "it gave no reason"}},
      {"E", "half \xc3", {"E", "half \xEF\xBF\xBD"}},
  };
  int rank = 0;
  for (const auto& row : table) {
    with(supervised(rank), [&] { return Replica::from_environment().report_failure(row.type, row.text, "t"), 0; });
    const auto file = parse_error_file(error_file("0-" + std::to_string(rank++) + ".json"));
    ASSERT_TRUE(file) << row.type << row.text;
    EXPECT_EQ(file->exception, row.exception);
  }
}

TEST_F(ReplicaOf, FailureWithoutAJobOrAFolder_IsOnStderr) {
  const auto fail = [] { return Replica::from_environment().report_failure("ValueError", "bad batch"), 0; };
  EXPECT_EQ(with({}, fail).err, "ValueError: bad batch\n");
  Variables variables = supervised(0);
  variables["FORKLIFT_RUN_DIR"] = run() + "/gone";
  EXPECT_EQ(with(variables, fail).err, "ValueError: bad batch\n");
}

}  // namespace
}  // namespace forklift
