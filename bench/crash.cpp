// One of 64 replicas crashes: from that moment until the launcher has exited, which is after it has reaped the others.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/support/muster.hpp"
#include "bench/support/options.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/rounds.hpp"
#include "bench/support/run_bench.hpp"
#include "bench/support/siblings.hpp"
#include "bench/support/torchrun.hpp"
#include "bench/support/workspace.hpp"

namespace forklift::bench {
namespace {

constexpr int replicas = 64;
constexpr int crashing_rank = 5;

/// A launcher's command line up to the program, and the status it ends with.
struct Launcher {
  std::vector<std::string> words;
  int status_after_crash;
};

Launcher our_launcher(const Options& options) {
  return {{options.forklift, "launch", "--cpu", "--num-processes", std::to_string(replicas), "--no-python"},
          128 + SIGSEGV};
}

Launcher bare_launcher() { return {{bare_program(), "crash", std::to_string(replicas)}, 0}; }

Launcher torchrun_launcher(const Options& options) { return {torchrun_words(options, replicas), 1}; }

/// Lets the job come to rest before the crash, for a time that differs from round to round: a launcher that polls must
/// not meet the crash in the same phase each time.
class Rest {
 public:
  void take() { std::this_thread::sleep_for(std::chrono::milliseconds(length_(random_))); }

 private:
  std::mt19937 random_{64};  // a fixed seed: the same rests in every run
  std::uniform_int_distribution<int> length_{50, 150};
};

class CrashBench {
 public:
  explicit CrashBench(const Workspace& workspace) : workspace_(workspace) {}

  double milliseconds(const Launcher& launcher) {
    Muster muster(workspace_);
    Command command{.argv = launcher.words, .expected_status = launcher.status_after_crash};
    for (const std::string& word :
         {replica_program(), std::string("crash"), std::to_string(crashing_rank), muster.up(), muster.go()}) {
      command.argv.push_back(word);
    }
    RunningProgram running(std::move(command));
    muster.wait_until_up(replicas, running);
    rest_.take();
    const Clock::time_point crashed = muster.crash(running);
    return std::chrono::duration<double, std::milli>(running.wait() - crashed).count();
  }

 private:
  const Workspace& workspace_;
  Rest rest_;
};

std::vector<Figure> measure_all(const Options& options, const Workspace& workspace) {
  CrashBench bench(workspace);
  const std::string what = fmt::format("one of {} crashes to launcher gone", replicas);
  const auto ours = [&] { return bench.milliseconds(our_launcher(options)); };

  std::vector<Figure> figures;
  figures.push_back(ratio_figure({what, "pidfd+kill+waitpid", "ms"},
                                 interleave(
                                     options.rounds, [&] { return bench.milliseconds(bare_launcher()); }, ours),
                                 Ratio::ours_to_limit, Bar{Bound::at_most, 1.5}));
  if (options.torchrun) {
    figures.push_back(ratio_figure(
        {what, "torchrun", "ms"},
        interleave(
            std::min(options.rounds, 5), [&] { return bench.milliseconds(torchrun_launcher(options)); }, ours),
        Ratio::limit_to_ours, Bar{Bound::at_least, 10}));
  }
  return figures;
}

}  // namespace
}  // namespace forklift::bench

int main(int argc, char** argv) {
  using namespace forklift::bench;
  return run_bench([&] {
    const Options options = parse_options(argc, argv);
    const Workspace workspace;
    publish("crash", measure_all(options, workspace), options);
  });
}
