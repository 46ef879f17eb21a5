// Start to all exited, as a whole process, against a bare vfork+exec+waitpid loop that is a whole process too.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

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

struct Program {
  std::string name;
  std::string path;
};

struct Size {
  int replicas;
  std::optional<Bar> bar;
};

Command launched(const Options& options, int replicas, const std::string& program) {
  return {.argv = {options.forklift, "launch", "--cpu", "--num-processes", std::to_string(replicas), "--no-python",
                   program}};
}

Command bare(int replicas, const std::string& program) {
  return {.argv = {bare_program(), "start", std::to_string(replicas), program}};
}

Command torchrun(const Options& options, int replicas, const std::string& program) {
  Command command{.argv = torchrun_words(options, replicas)};
  command.argv.push_back(program);
  return command;
}

double milliseconds_of(const Command& command) { return seconds_of(command) * 1000; }

/// A round of 2048 starts takes seconds, and its median needs fewer of them.
int rounds_for(int replicas, const Options& options) {
  return replicas > 64 ? std::clamp(options.rounds / 2, 1, 7) : options.rounds;
}

Samples measure(const Options& options, int replicas, const std::string& program) {
  return interleave(
      rounds_for(replicas, options), [&] { return milliseconds_of(bare(replicas, program)); },
      [&] { return milliseconds_of(launched(options, replicas, program)); });
}

Comparison comparison_of(int replicas, const Program& program) {
  return {fmt::format("start to all exited, {} x {}", replicas, program.name), "vfork+exec+waitpid", "ms"};
}

Figure against_torchrun(const Options& options) {
  constexpr int replicas = 8;
  const std::string program = "/bin/true";
  Samples samples = interleave(
      std::min(options.rounds, 5), [&] { return milliseconds_of(torchrun(options, replicas, program)); },
      [&] { return milliseconds_of(launched(options, replicas, program)); });
  return ratio_figure({fmt::format("start to all exited, {} x {}", replicas, program), "torchrun", "ms"},
                      std::move(samples), Ratio::limit_to_ours, Bar{Bound::at_least, 50});
}

std::vector<Figure> measure_all(const Options& options) {
  const Program true_program{"/bin/true", "/bin/true"};
  const Program noop{"no-op", noop_program()};
  const std::vector<Size> sizes = {
      {64, Bar{Bound::at_most, 1.25}}, {512, Bar{Bound::at_most, 1.5}}, {2048, Bar{Bound::at_most, 1.8}}};

  std::vector<Figure> figures;
  figures.push_back(difference_figure(comparison_of(8, true_program), measure(options, 8, true_program.path),
                                      Bar{Bound::at_most, 10}));
  for (const Size& size : sizes) {
    figures.push_back(ratio_figure(comparison_of(size.replicas, true_program),
                                   measure(options, size.replicas, true_program.path), Ratio::ours_to_limit, size.bar));
  }
  // Shows the launcher's own share, which the loading of /bin/true hides.
  for (const int replicas : {64, 512}) {
    figures.push_back(ratio_figure(comparison_of(replicas, noop), measure(options, replicas, noop.path),
                                   Ratio::ours_to_limit, std::nullopt));
  }
  if (options.torchrun) figures.push_back(against_torchrun(options));
  return figures;
}

}  // namespace
}  // namespace forklift::bench

int main(int argc, char** argv) {
  using namespace forklift::bench;
  return run_bench([&] {
    const Options options = parse_options(argc, argv);
    const Workspace workspace;
    publish("start", measure_all(options), options);
  });
}
