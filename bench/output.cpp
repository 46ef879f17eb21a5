// Eight replicas print as fast as they can: prefixed lines to one file on tmpfs, against `cat` of the same pipes into
// one file on tmpfs.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/support/options.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/rounds.hpp"
#include "bench/support/run_bench.hpp"
#include "bench/support/siblings.hpp"
#include "bench/support/workspace.hpp"

namespace forklift::bench {
namespace {

constexpr int replicas = 8;

/// The file that all lines go to, in memory so that no disk is measured.
class Sink {
 public:
  Sink() : path_("/dev/shm/forklift-bench-" + std::to_string(::getpid())) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() { remove(); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uintmax_t bytes() const { return std::filesystem::file_size(path_); }
  /// Gives the memory back, outside the measured time.
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

 private:
  std::filesystem::path path_;
};

class OutputBench {
 public:
  explicit OutputBench(std::uintmax_t bytes_per_replica) : bytes_(bytes_per_replica) {}

  /// GB (10^9 bytes) of replicas' output a second.
  double throughput(std::vector<std::string> launcher) {
    const std::uintmax_t printed = bytes_ * replicas;
    launcher.insert(launcher.end(), {replica_program(), "write", std::to_string(bytes_)});
    const double seconds = seconds_of({.argv = std::move(launcher), .standard_output = sink_.path()});
    const std::uintmax_t arrived = sink_.bytes();
    sink_.remove();
    if (arrived < printed) {
      throw std::runtime_error(fmt::format("{} of at least {} bytes arrived", arrived, printed));
    }
    return static_cast<double>(printed) / seconds / 1e9;
  }

 private:
  std::uintmax_t bytes_;
  Sink sink_;
};

std::vector<Figure> measure_all(const Options& options, int megabytes) {
  OutputBench bench(static_cast<std::uintmax_t>(megabytes) * 1'000'000);
  const std::string count = std::to_string(replicas);
  Samples samples = interleave(
      std::min(options.rounds, 7),
      [&] {
        return bench.throughput({bare_program(), "cat", count});
      },
      [&] {
        return bench.throughput({options.forklift, "launch", "--cpu", "--num-processes", count, "--no-python"});
      });
  return {ratio_figure({fmt::format("{} replicas print {} MB each, to one file", replicas, megabytes), "cat", "GB/s"},
                       std::move(samples), Ratio::ours_to_limit, Bar{Bound::at_least, 0.6})};
}

}  // namespace
}  // namespace forklift::bench

int main(int argc, char** argv) {
  using namespace forklift::bench;
  return run_bench([&] {
    int megabytes = 0;
    boost::program_options::options_description own;
    own.add_options()("megabytes", boost::program_options::value<int>(&megabytes)->default_value(200),
                      "what each replica prints");
    const Options options = parse_options(argc, argv, own);
    if (megabytes < 1) throw std::runtime_error("--megabytes: expected at least 1");
    const Workspace workspace;
    publish("output", measure_all(options, megabytes), options);
  });
}
