#include "launcher/system/run_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>

#include "launcher/system/run_history.hpp"
#include "launcher/system/run_lock.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

namespace fs = std::filesystem;
using support::TemporaryDirectory;

constexpr const char* success = "{\"result\": \"succeeded\"}";

/// A home of its own for each test.
class RunDirectories : public support::LeakChecked {
 protected:
  [[nodiscard]] Environment environment() const { return {{"HOME", home_.path()}, {"TMPDIR", temporary_.path()}}; }
  [[nodiscard]] fs::path runs() const { return home_ / ".local/state/forklift/runs"; }
  fs::path add_run(const std::string& id) const {
    const auto created = create_run_directory("", id, environment());
    EXPECT_TRUE(created) << created.error().message;
    prune_runs(runs());  // As the guard does while the job starts.
    return created ? created.value().path : fs::path();
  }
  /// The number of runs in the default place.
  [[nodiscard]] std::size_t count() const {
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator(runs()))
      found += is_run_id(entry.path().filename().string()) ? 1 : 0;
    return found;
  }
  static std::string id_of(int number) {
    char text[32];
    std::snprintf(text, sizeof text, "20260131-%06d-00beef", number);
    return text;
  }

  const TemporaryDirectory home_;
  const TemporaryDirectory temporary_;
};

unsigned mode_of(const fs::path& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 07777U : 0;
}

TEST_F(RunDirectories, RunId_IsDateTimeAndRandomDigits) {
  const std::string id = make_run_id();
  EXPECT_TRUE(is_run_id(id)) << id;
  EXPECT_TRUE(id.starts_with("20")) << id;
  EXPECT_NE(id, make_run_id());
}

TEST_F(RunDirectories, OtherNames_AreNoRunIds) {
  for (const char* name : {"", "last", "20260131-120000", "20260131-120000-abcde", "20260131-120000-ABCDEF",
                           "20260131_120000-abcdef", "20260131-12000x-abcdef", "20260131-120000-abcdef0"}) {
    EXPECT_FALSE(is_run_id(name)) << name;
  }
}

TEST_F(RunDirectories, DefaultPlace_FollowsTheEnvironment) {
  const struct {
    Environment environment;
    const char* expected;
  } table[] = {
      {{{"XDG_STATE_HOME", "/state"}, {"HOME", "/home/me"}}, "/state/forklift/runs"},
      {{{"XDG_STATE_HOME", "relative"}, {"HOME", "/home/me"}}, "/home/me/.local/state/forklift/runs"},
      {{{"HOME", "/home/me"}}, "/home/me/.local/state/forklift/runs"},
      {{}, ""},
  };
  for (const auto& row : table) EXPECT_EQ(default_runs_directory(row.environment), fs::path(row.expected));
}

TEST_F(RunDirectories, FirstRun_MakesThePlaceForItsOwnerOnly) {
  const auto created = create_run_directory("", id_of(1), environment());
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created.value().path, runs() / id_of(1));
  EXPECT_TRUE(created.value().warnings.empty());
  for (const fs::path& path : {runs(), runs() / id_of(1), runs() / id_of(1) / "errors"}) {
    EXPECT_EQ(mode_of(path), 0700U) << path;
  }
  EXPECT_EQ(fs::read_symlink(runs() / "last"), runs() / id_of(1));
}

TEST_F(RunDirectories, Last_IsTheNewestWhereverItIs) {
  const TemporaryDirectory logs;
  add_run(id_of(1));
  const auto created = create_run_directory((logs / "deep/down").string(), id_of(2), environment());
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created.value().path, logs / ("deep/down/" + id_of(2)));
  EXPECT_EQ(mode_of(created.value().path), 0700U);
  const auto last = find_run_directory("last", environment());
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_EQ(last.value(), created.value().path);
}

TEST_F(RunDirectories, RelativeLogDir_BecomesAbsolute) {
  const TemporaryDirectory logs;
  const fs::path before = fs::current_path();
  fs::current_path(logs.path());
  const auto created = create_run_directory("logs", id_of(1), environment());
  fs::current_path(before);
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created.value().path, logs / ("logs/" + id_of(1)));
}

TEST_F(RunDirectories, LogDirThatIsAFile_IsAUsageErrorThatNamesIt) {
  const auto file = home_.write("occupied", "x");
  const auto created = create_run_directory(file, id_of(1), environment());
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().kind, ErrorKind::usage);
  EXPECT_NE(created.error().message.find("--log-dir '" + file.string() + "'"), std::string::npos);
  EXPECT_NE(created.error().message.find("Not a directory"), std::string::npos) << created.error().message;
}

TEST_F(RunDirectories, LogDirWithoutPermission_IsAUsageError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const fs::path closed = home_ / "closed";
  ASSERT_EQ(::mkdir(closed.c_str(), 0500), 0);
  const auto created = create_run_directory(closed, id_of(1), environment());
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().kind, ErrorKind::usage);
  EXPECT_NE(created.error().message.find("Permission denied"), std::string::npos) << created.error().message;
}

TEST_F(RunDirectories, SameRunTwice_IsRefused) {
  add_run(id_of(1));
  const TemporaryDirectory logs;
  ASSERT_TRUE(create_run_directory(logs.path(), id_of(1), environment()));
  const auto again = create_run_directory(logs.path(), id_of(1), environment());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().os_errno, EEXIST);
}

TEST_F(RunDirectories, UnwritableDefaultPlace_FallsBackWithAWarning) {
  home_.write(".local/state", "a file in the way");
  const auto created = create_run_directory("", id_of(1), environment());
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created.value().path, temporary_ / ("forklift-" + id_of(1)));
  EXPECT_EQ(mode_of(created.value().path), 0700U);
  ASSERT_EQ(created.value().warnings.size(), 1U);
  EXPECT_NE(created.value().warnings.front().find(runs().string()), std::string::npos);
  EXPECT_NE(created.value().warnings.front().find(created.value().path.string()), std::string::npos);
}

TEST_F(RunDirectories, NoHome_FallsBackWithAWarning) {
  const auto created = create_run_directory("", id_of(1), {{"TMPDIR", temporary_.path()}});
  ASSERT_TRUE(created) << created.error().message;
  ASSERT_EQ(created.value().warnings.size(), 1U);
  EXPECT_NE(created.value().warnings.front().find("neither XDG_STATE_HOME nor HOME is set"), std::string::npos);
  const auto found = find_run_directory(id_of(1), {{"TMPDIR", temporary_.path()}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found.value(), created.value().path);
}

TEST_F(RunDirectories, NowhereToWrite_IsOneErrorThatNamesBothPlaces) {
  home_.write(".local/state", "a file in the way");
  const auto created = create_run_directory("", id_of(1), {{"HOME", home_.path()}, {"TMPDIR", "/nonexistent"}});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().kind, ErrorKind::system);
  EXPECT_NE(created.error().message.find(runs().string()), std::string::npos) << created.error().message;
  EXPECT_NE(created.error().message.find("/nonexistent/forklift-"), std::string::npos) << created.error().message;
}

TEST_F(RunDirectories, OldFinishedRuns_GoBeyondFifty) {
  for (int number = 0; number < 60; ++number) ASSERT_TRUE(write_file(add_run(id_of(number)) / "report.json", success));
  EXPECT_EQ(count(), runs_kept);
  EXPECT_FALSE(fs::exists(runs() / id_of(9)));
  EXPECT_TRUE(fs::exists(runs() / id_of(10)));
}

TEST_F(RunDirectories, FailedRuns_StayLongerThanThoseThatSucceeded) {
  for (int number = 0; number < 120; ++number) {
    const char* report = number % 2 == 0 ? success : "{\"result\": \"failed\"}";
    ASSERT_TRUE(write_file(add_run(id_of(number)) / "report.json", report));
  }
  EXPECT_EQ(count(), runs_kept + 35) << "of the 70 before the newest, the failed half";
  for (int number = 120; number < 220; ++number) {
    ASSERT_TRUE(write_file(add_run(id_of(number)) / "report.json", "{\"result\": \"failed\"}"));
  }
  EXPECT_EQ(count(), runs_kept + failed_runs_kept);
}

TEST_F(RunDirectories, WhatIsNoFinishedRun_Stays) {
  const fs::path unfinished = add_run(id_of(0));
  const fs::path foreign = runs() / "my-notes";
  fs::create_directory(foreign);
  for (int number = 1; number < 60; ++number) ASSERT_TRUE(write_file(add_run(id_of(number)) / "report.json", "{}"));
  EXPECT_TRUE(fs::exists(unfinished)) << "it may still be running";
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(RunDirectories, RunWithoutASignOfLife_GoesAfterAMonth) {
  const fs::path dead = add_run(id_of(0));
  ASSERT_TRUE(write_file(dead / "events.jsonl", "{}"));
  for (int number = 1; number < 60; ++number) add_run(id_of(number));
  ASSERT_TRUE(fs::exists(dead));
  fs::last_write_time(dead / "events.jsonl", fs::file_time_type::clock::now() - std::chrono::hours(24 * 31));
  add_run(id_of(60));
  EXPECT_FALSE(fs::exists(dead));
}

TEST_F(RunDirectories, SilentRunWhoseLockIsHeld_Stays) {
  const fs::path silent = add_run(id_of(0));
  ASSERT_TRUE(write_file(silent / "events.jsonl", "{}\n"));
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    hold_run_lock(::open((silent / "events.jsonl").c_str(), O_RDWR | O_CLOEXEC));
    [[maybe_unused]] const auto told = ::write(ready[1], "x", 1);
    for (;;) ::pause();
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 40);
  fs::last_write_time(silent / "events.jsonl", long_ago);
  for (int number = 1; number <= 60; ++number) ASSERT_TRUE(write_file(add_run(id_of(number)) / "report.json", success));
  EXPECT_TRUE(fs::exists(silent));
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  prune_runs(runs());
  EXPECT_FALSE(fs::exists(silent)) << "nobody holds it any more";
}

TEST_F(RunDirectories, Run_IsFoundByIdByPathAndByLast) {
  add_run(id_of(1));
  const fs::path newest = add_run(id_of(2));
  const TemporaryDirectory elsewhere;
  const std::pair<std::string, fs::path> table[] = {
      {"last", newest}, {id_of(1), runs() / id_of(1)}, {elsewhere.path(), elsewhere.path()}, {newest, newest}};
  for (const auto& [name, expected] : table) {
    const auto found = find_run_directory(name, environment());
    ASSERT_TRUE(found) << name << ": " << found.error().message;
    EXPECT_EQ(found.value(), expected) << name;
  }
}

TEST_F(RunDirectories, RunElsewhere_IsFoundByIdUntilItIsRemoved) {
  fs::path elsewhere;
  {
    const TemporaryDirectory logs;
    const auto created = create_run_directory(logs.path(), id_of(0), environment());
    ASSERT_TRUE(created) << created.error().message;
    elsewhere = created.value().path;
    const auto found = find_run_directory(id_of(0), environment());
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found.value(), elsewhere);
  }
  const auto gone = find_run_directory(id_of(0), environment());
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find(elsewhere.string()), std::string::npos) << gone.error().message;
  for (int number = 1; number <= 50; ++number) add_run(id_of(number));
  EXPECT_FALSE(fs::is_symlink(runs() / id_of(0))) << "the link to nothing goes with the oldest";
}

TEST_F(RunDirectories, PruningARunElsewhere_RemovesTheLinkOnly) {
  const TemporaryDirectory logs;
  const auto created = create_run_directory(logs.path(), id_of(0), environment());
  ASSERT_TRUE(created) << created.error().message;
  ASSERT_TRUE(write_file(created.value().path / "report.json", success));
  for (int number = 1; number <= 50; ++number) add_run(id_of(number));
  EXPECT_FALSE(fs::is_symlink(runs() / id_of(0)));
  EXPECT_TRUE(fs::exists(created.value().path / "report.json"));
}

TEST_F(RunDirectories, RunThatIsNotThere_IsAUsageErrorThatNamesIt) {
  const fs::path gone = add_run(id_of(1));
  for (const std::string& name :
       {std::string("20200101-000000-000000"), std::string("/nonexistent/run"), std::string()}) {
    const auto found = find_run_directory(name, environment());
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().kind, ErrorKind::usage);
    EXPECT_NE(found.error().message.find(name), std::string::npos) << found.error().message;
  }
  fs::remove_all(gone);
  const auto last = find_run_directory("last", environment());
  ASSERT_FALSE(last);
  EXPECT_NE(last.error().message.find(gone.string()), std::string::npos) << last.error().message;
}

TEST_F(RunDirectories, NoRunYet_IsSaid) {
  const auto last = find_run_directory("last", environment());
  ASSERT_FALSE(last);
  EXPECT_NE(last.error().message.find("no run has been made yet"), std::string::npos) << last.error().message;
}

class WholeFile : public support::LeakChecked {
 protected:
  const TemporaryDirectory directory_;
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_.path())) found.insert(entry.path().filename().string());
    return found;
  }
};

TEST_F(WholeFile, Content_ReplacesWhatWasThere) {
  const fs::path file = directory_ / "report.json";
  ASSERT_TRUE(write_file(file, "a long first content"));
  ASSERT_TRUE(write_file(file, std::string("short\0second", 12)));
  EXPECT_EQ(support::read_text(file), std::string("short\0second", 12));
  EXPECT_EQ(names(), std::set<std::string>{"report.json"});
}

TEST_F(WholeFile, FullDisk_LeavesTheOldContentAndNothingElse) {
  const fs::path file = directory_ / "report.json";
  ASSERT_TRUE(write_file(file, "old"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = write_file(file, std::string(5000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::system);
  EXPECT_EQ(written.error().os_errno, EFBIG);
  EXPECT_NE(written.error().message.find(file.string()), std::string::npos);
  EXPECT_EQ(support::read_text(file), "old");
  EXPECT_EQ(names(), std::set<std::string>{"report.json"});
}

TEST_F(WholeFile, MissingDirectory_IsAnError) {
  const auto written = write_file(directory_ / "missing/report.json", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().os_errno, ENOENT);
}

}  // namespace
}  // namespace forklift
