// Replicas forked from a template: the start of 64 against a bare loop of forks, and the time that a restart takes.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
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
#include "bench/support/workspace.hpp"

namespace forklift::bench {
namespace {

Command templated(const Options& options, int replicas, const std::vector<std::string>& program) {
  Command command{.argv = {options.forklift, "launch", "--cpu", "--template", "--num-processes",
                           std::to_string(replicas), "--no-python"}};
  command.argv.insert(command.argv.end(), program.begin(), program.end());
  return command;
}

double milliseconds_of(const Command& command) { return seconds_of(command) * 1000; }

// ---- start --------------------------------------------------------------------------------------------------------

Samples measure_start(const Options& options, int replicas) {
  const Command bare{.argv = {template_program(), "bare", std::to_string(replicas)}};
  const Command ours = templated(options, replicas, {template_program(), "fork"});
  return interleave(
      options.rounds, [&] { return milliseconds_of(bare); }, [&] { return milliseconds_of(ours); });
}

Comparison start_of(int replicas) {
  return {fmt::format("template: start to all exited, {} x fork", replicas), "fork+waitpid", "ms"};
}

// ---- restart ------------------------------------------------------------------------------------------------------

/// 4 GiB, or less where the memory does not allow it: half of what is free. A hole on the disk, and whole in memory.
std::filesystem::path make_model(const Workspace& workspace, std::uint64_t& bytes) {
  const auto free_bytes =
      static_cast<std::uint64_t>(::sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  bytes = std::min(std::uint64_t{4} << 30, free_bytes / 2);
  std::filesystem::path file = workspace.file("model");
  std::ofstream(file).close();
  std::filesystem::resize_file(file, bytes);
  return file;
}

class RestartBench {
 public:
  RestartBench(const Options& options, const Workspace& workspace, const std::filesystem::path& model)
      : muster_(workspace), launcher_(command(options, model)) {}

  struct Restart {
    double first_ms;  ///< From the death of a replica to the first instruction of the first of the next attempt …
    double last_ms;   ///< … and of the last one.
  };
  Restart measure() {
    std::this_thread::sleep_for(std::chrono::milliseconds(rest_(random_)));  // Every attempt comes to rest before.
    const Clock::time_point crashed = muster_.crash(launcher_);
    const auto [first, last] = next_attempt();
    const auto since_crash = [&](Clock::time_point moment) {
      return std::chrono::duration<double, std::milli>(moment - crashed).count();
    };
    return {since_crash(first), since_crash(last)};
  }
  /// When the first and the last replica of an attempt began.
  std::pair<Clock::time_point, Clock::time_point> next_attempt() {
    std::vector<Clock::time_point> begun;
    for (int replica = 0; replica < replicas; ++replica) begun.push_back(muster_.next_moment(launcher_));
    const auto [first, last] = std::minmax_element(begun.begin(), begun.end());
    return {*first, *last};
  }
  void end() {
    launcher_.send(SIGTERM);
    launcher_.wait();
  }

  static constexpr int replicas = 8;

 private:
  Command command(const Options& options, const std::filesystem::path& model) {
    Command command = templated(options, replicas, {template_program(), "hold", model, muster_.up(), muster_.go()});
    const std::vector<std::string> restarts{"--max-restarts", "1000000"};
    command.argv.insert(command.argv.begin() + 2, restarts.begin(), restarts.end());
    command.expected_status = 128 + SIGTERM;
    return command;
  }

  Muster muster_;
  RunningProgram launcher_;
  std::mt19937 random_{64};  // a fixed seed: the same rests in every run
  std::uniform_int_distribution<int> rest_{20, 80};
};

void add_restarts(std::vector<Figure>& figures, const Options& options, const Workspace& workspace) {
  std::uint64_t bytes = 0;
  const std::filesystem::path model = make_model(workspace, bytes);
  std::vector<double> first;
  std::vector<double> last;
  RestartBench bench(options, workspace, model);
  bench.next_attempt();
  for (int round = -1; round < options.rounds; ++round) {
    const auto restart = bench.measure();
    if (round < 0) continue;  // cold caches
    first.push_back(restart.first_ms);
    last.push_back(restart.last_ms);
  }
  bench.end();
  const std::string what = fmt::format("template with {:.1f} GiB mapped: one of {} crashes to the next attempt's ",
                                       static_cast<double>(bytes) / (1U << 30), RestartBench::replicas);
  figures.push_back(plain_figure(what + "first instruction", median(first), "ms", Bar{Bound::at_most, 20}));
  figures.push_back(plain_figure(what + "last replica", median(last), "ms", std::nullopt));
}

std::vector<Figure> measure_all(const Options& options, const Workspace& workspace) {
  std::vector<Figure> figures;
  figures.push_back(
      ratio_figure(start_of(64), measure_start(options, 64), Ratio::ours_to_limit, Bar{Bound::at_most, 2.2}));
  // What is fixed: guard, supervisor, run directory, report, and one exec more.
  figures.push_back(difference_figure(start_of(1), measure_start(options, 1), std::nullopt));
  figures.push_back(ratio_figure(start_of(512), measure_start(options, 512), Ratio::ours_to_limit, std::nullopt));
  add_restarts(figures, options, workspace);
  return figures;
}

}  // namespace
}  // namespace forklift::bench

int main(int argc, char** argv) {
  using namespace forklift::bench;
  return run_bench([&] {
    const Options options = parse_options(argc, argv);
    const Workspace workspace;
    publish("template", measure_all(options, workspace), options);
  });
}
