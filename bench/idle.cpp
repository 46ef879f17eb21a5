// What a job costs that just trains: wake-ups of the launcher's processes while nothing happens, and their memory.
#include <fmt/core.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "bench/support/muster.hpp"
#include "bench/support/options.hpp"
#include "bench/support/process_status.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/run_bench.hpp"
#include "bench/support/siblings.hpp"
#include "bench/support/workspace.hpp"

namespace forklift::bench {
namespace {

/// The launcher may look at a young job; after this time it has to be silent.
constexpr std::chrono::seconds settling{12};

/// A job of replicas that do nothing, and the launcher's own processes.
class IdleJob {
 public:
  IdleJob(const Options& options, const Workspace& workspace, int replicas)
      : muster_(workspace), launcher_(command(options, muster_, replicas)) {
    muster_.wait_until_up(replicas, launcher_);
    launcher_processes_ = children_of(launcher_.pid());  // the supervisor; replicas are its children
    launcher_processes_.push_back(launcher_.pid());      // the guard
  }
  void end() {
    launcher_.send(SIGTERM);
    launcher_.wait();
  }

  [[nodiscard]] std::uint64_t switches() const {
    std::uint64_t sum = 0;
    for (const pid_t pid : launcher_processes_) sum += context_switches(pid);
    return sum;
  }
  [[nodiscard]] Memory memory() const {
    Memory sum;
    for (const pid_t pid : launcher_processes_) {
      const Memory one = memory_of(pid);
      sum.rss_kib += one.rss_kib;
      sum.pss_kib += one.pss_kib;
    }
    return sum;
  }

 private:
  static Command command(const Options& options, const Muster& muster, int replicas) {
    return {.argv = {options.forklift, "launch", "--cpu", "--num-processes", std::to_string(replicas), "--no-python",
                     replica_program(), "idle", muster.up()},
            .expected_status = 128 + SIGTERM};
  }

  Muster muster_;
  RunningProgram launcher_;
  std::vector<pid_t> launcher_processes_;
};

void add_memory(std::vector<Figure>& figures, const Memory& memory, int replicas) {
  const double bar_mib = 12.0 + 16.0 / 1024 * replicas;
  const auto mib = [](std::uint64_t kib) { return static_cast<double>(kib) / 1024; };
  figures.push_back(plain_figure(fmt::format("memory of the launcher with {} replicas, RSS", replicas),
                                 mib(memory.rss_kib), "MiB", Bar{Bound::at_most, bar_mib}));
  // Less than RSS: guard and supervisor share most of their pages.
  figures.push_back(plain_figure(fmt::format("memory of the launcher with {} replicas, PSS", replicas),
                                 mib(memory.pss_kib), "MiB", std::nullopt));
}

std::vector<Figure> measure_all(const Options& options, const Workspace& workspace, int seconds) {
  constexpr int few = 64;
  constexpr int many = 1024;
  std::vector<Figure> figures;
  {
    IdleJob job(options, workspace, few);
    std::this_thread::sleep_for(settling);
    const std::uint64_t before = job.switches();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    const std::uint64_t after = job.switches();
    figures.push_back(plain_figure(fmt::format("wake-ups in {} s, {} idle replicas", seconds, few),
                                   static_cast<double>(after - before), "wake-ups", Bar{Bound::at_most, 0}));
    add_memory(figures, job.memory(), few);
    job.end();
  }
  IdleJob job(options, workspace, many);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the last replicas' start is booked
  add_memory(figures, job.memory(), many);
  job.end();
  return figures;
}

}  // namespace
}  // namespace forklift::bench

int main(int argc, char** argv) {
  using namespace forklift::bench;
  return run_bench([&] {
    int seconds = 0;
    boost::program_options::options_description own;
    own.add_options()("seconds", boost::program_options::value<int>(&seconds)->default_value(60),
                      "how long wake-ups are counted");
    const Options options = parse_options(argc, argv, own);
    const Workspace workspace;
    publish("idle", measure_all(options, workspace, seconds), options);
  });
}
