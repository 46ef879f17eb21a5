// The storm: jobs of the nastiest kinds, killed in every way at random moments. Nothing of them may be left.
//
// FORKLIFT_STORM_RUNS and FORKLIFT_STORM_SEED change how many and which; a failure prints the seed.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift {
namespace {

using namespace support;

/// As many jobs at a time: enough that kills also hit processes that wait for a core.
constexpr int jobs_at_a_time = 4;

constexpr std::chrono::microseconds latest_kill{300'000};

enum class Kill {
  guard,
  supervisor,
  group_of_guard,      ///< What a terminal emulator or a notebook server does.
  everything_by_name,  ///< `pkill -9 forklift`, within the job.
};
constexpr Kill all_kills[] = {Kill::guard, Kill::supervisor, Kill::group_of_guard, Kill::everything_by_name};

const char* name_of(Kill kill) {
  switch (kill) {
    case Kill::guard:
      return "SIGKILL of the guard";
    case Kill::supervisor:
      return "SIGKILL of the supervisor";
    case Kill::group_of_guard:
      return "killpg of the guard's group";
    case Kill::everything_by_name:
      return "pkill -9 forklift";
  }
  return "";
}

struct Storm {
  int runs = 200;
  unsigned seed = 0;
};

unsigned environment_or(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

Storm storm_of(unsigned usual_runs) {
  return {static_cast<int>(environment_or("FORKLIFT_STORM_RUNS", usual_runs)),
          environment_or("FORKLIFT_STORM_SEED", std::random_device{}())};
}

/// Kills the job's processes whose name contains `name`. How many there were.
int kill_by_name(const std::string& marker, std::string_view name) {
  int hit = 0;
  for (const int pid : marked_processes(marker)) {
    if (process_name(pid).find(name) == std::string::npos) continue;
    ::kill(pid, SIGKILL);
    ++hit;
  }
  return hit;
}

void strike(Kill kind, const RunningProcess& guard, const std::string& marker) {
  switch (kind) {
    case Kill::guard:
      return guard.send(SIGKILL);
    case Kill::group_of_guard:
      return guard.send_to_group(SIGKILL);
    case Kill::supervisor:
    case Kill::everything_by_name:
      // So early that nobody has that name yet: the guard instead. Never both, which only --isolate survives.
      if (kill_by_name(marker, kind == Kill::supervisor ? supervisor_name : "forklift") == 0) guard.send(SIGKILL);
      return;
  }
}

class Storming : public SupervisedJobTest {
 protected:
  /// Jobs that are hard to end; `nasty` chooses one of them. `round` gives the daemon's pid file its name.
  [[nodiscard]] Words job(std::size_t nasty, int round) const {
    const std::string pid_file = (scratch() / "daemon-").string() + std::to_string(round) + "-$RANK";
    const Words programs[] = {
        replicas(4, child("block", {"TERM", "INT", "HUP"})),
        replicas(3, child("setsid-child")),
        replicas(3, shell("exec " + std::string(FORKLIFT_CHILD_PROGRAM) + " daemonize " + pid_file)),
        replicas(2, child("fork-storm", {"2"})),
        replicas(2, child("tree", {"3"})),
        replicas(64, child("block", {"TERM"})),  // Long in starting: many kills hit the middle of it.
    };
    return programs[nasty % std::size(programs)];
  }

  /// Runs and kills `storm.runs` jobs, some at a time, and looks after each whether anything of it is left.
  void blow(const Storm& storm, const std::function<Command(Command)>& adapt) {
    std::vector<std::string> markers;
    for (int run = 0; run < storm.runs; ++run) markers.push_back(new_marker());
    std::atomic<int> next{0};
    std::vector<std::thread> workers;
    for (int worker = 0; worker < jobs_at_a_time; ++worker) {
      workers.emplace_back([&] {
        for (int run = next++; run < storm.runs; run = next++) {
          kill_one(storm.seed, run, markers[static_cast<std::size_t>(run)], adapt);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  }

 private:
  void kill_one(unsigned seed, int run, const std::string& marker, const std::function<Command(Command)>& adapt) const {
    std::mt19937 dice(seed + static_cast<unsigned>(run));
    const Kill kind = all_kills[dice() % std::size(all_kills)];
    const std::size_t nasty = dice();
    // The square leans to early moments, where a start is under way.
    const double share = std::uniform_real_distribution<>(0, 1)(dice);
    const std::chrono::duration<double> moment = latest_kill * (share * share);
    Command command = adapt(launch(job(nasty, run)));
    command.environment["FORKLIFT_TEST_MARKER"] = marker;
    {
      RunningProcess guard(command);
      std::this_thread::sleep_for(moment);  // The random moment is what is tested, not a wait for something.
      strike(kind, guard, marker);
      guard.wait();
    }
    const auto all_gone = eventually([&] { return marked_count_is(marker, 0); });
    EXPECT_TRUE(all_gone) << "seed " << seed << ", run " << run << ": " << name_of(kind) << " after " << moment.count()
                          << " s";
    if (!all_gone) kill_by_name(marker, "");  // Whatever its name: the next runs are not to suffer from it.
  }
};

TEST_F(Storming, RandomKillsOfNastyJobs_LeaveNoProcess) {
  const Storm storm = storm_of(200);
  std::printf("FORKLIFT_STORM_SEED=%u FORKLIFT_STORM_RUNS=%d\n", storm.seed, storm.runs);
  blow(storm, [](Command command) { return command; });
}

TEST_F(Storming, RandomKillsAsOrdinaryUser_LeaveNoProcess) {
  if (::getuid() != 0) GTEST_SKIP() << "all storms run as an ordinary user already";
  give_scratch_to(nobody);
  Command version = forklift({"version"});
  version.user = nobody;
  if (run(version).exit_code != 0) GTEST_SKIP() << "user " << nobody << " may not run " << FORKLIFT_BINARY;
  const Storm storm = storm_of(60);
  std::printf("FORKLIFT_STORM_SEED=%u FORKLIFT_STORM_RUNS=%d\n", storm.seed, storm.runs);
  blow(storm, [](Command command) {
    command.user = nobody;
    return command;
  });
}

}  // namespace
}  // namespace forklift
