// What a shared model costs: opening it, copying it, and the memory of replicas that read it.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/support/options.hpp"
#include "bench/support/process_status.hpp"
#include "bench/support/program.hpp"
#include "bench/support/raw_copy.hpp"
#include "bench/support/results.hpp"
#include "bench/support/rounds.hpp"
#include "bench/support/run_bench.hpp"
#include "bench/support/workspace.hpp"
#include "forklift/shared_model.hpp"
#include "worker/descriptor.hpp"

namespace forklift::bench {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;
constexpr int replicas = 8;

std::string size_text(std::uint64_t bytes) {
  return bytes >= gibibyte ? fmt::format("{:.3g} GiB", static_cast<double>(bytes) / static_cast<double>(gibibyte))
                           : fmt::format("{} MiB", bytes / mebibyte);
}

/// A model file without blocks on the disk: its pages are in the page cache, where all of this happens, like any other.
class SparseModel {
 public:
  SparseModel(std::filesystem::path path, std::uint64_t bytes) : path_(std::move(path)), bytes_(bytes) {
    constexpr std::uint64_t tensors = 256;
    const std::uint64_t each = bytes / tensors;
    std::string header = "{";
    for (std::uint64_t i = 0; i < tensors; ++i) {
      header += fmt::format(R"({}"layers.{}.weight":{{"dtype":"BF16","shape":[{}],"data_offsets":[{},{}]}})",
                            i == 0 ? "" : ",", i, each / 2, i * each, (i + 1) * each);
    }
    header += "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::ofstream file(path_, std::ios::binary);
    for (unsigned shift = 0; shift < 64; shift += 8) file.put(static_cast<char>(header.size() >> shift & 0xFFU));
    file << header;
    file.close();
    std::filesystem::resize_file(path_, 8 + header.size() + each * tensors);
  }
  SparseModel(const SparseModel&) = delete;
  SparseModel& operator=(const SparseModel&) = delete;
  ~SparseModel() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::string size() const { return size_text(bytes_); }

  /// Brings all of it into the page cache.
  void warm() const {
    const Descriptor file = open();
    std::vector<char> buffer(mebibyte);
    while (::read(file.get(), buffer.data(), buffer.size()) > 0) {
    }
  }
  [[nodiscard]] Descriptor open() const {
    Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) throw std::runtime_error(path_.string() + " cannot be opened");
    return file;
  }

 private:
  std::filesystem::path path_;
  std::uint64_t bytes_;
};

SharedModel opened(const SparseModel& file, const ModelOptions& options = {}) {
  auto model = SharedModel::open(file.path(), options);
  if (!model) throw std::runtime_error(model.error().message);
  return std::move(model).value();
}

double seconds_of(const std::function<void()>& body) {
  const Clock::time_point begun = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

// ---- opening ----

double open_milliseconds(const SparseModel& file) {
  std::optional<SharedModel> model;  // Its end is not timed.
  return 1000 * seconds_of([&] { model = opened(file); });
}

void measure_open(std::vector<Figure>& figures, const SparseModel& large, const SparseModel& small, int rounds) {
  constexpr double most_milliseconds = 5;
  Samples samples = interleave(
      rounds, [&] { return open_milliseconds(small); }, [&] { return open_milliseconds(large); });
  for (const auto& [file, times] : {std::pair(&small, &samples.limit), std::pair(&large, &samples.ours)}) {
    figures.push_back(
        plain_figure("open, mapped, " + file->size(), median(*times), "ms", Bar{Bound::at_most, most_milliseconds}));
  }
  figures.push_back(ratio_figure({"open, mapped, " + large.size(), "the same of " + small.size(), "ms"},
                                 std::move(samples), Ratio::ours_to_limit, Bar{Bound::at_most, 1.5}));
}

// ---- copying ----

double gibibytes_per_second(const SparseModel& file, double seconds) {
  return static_cast<double>(file.bytes()) / static_cast<double>(gibibyte) / seconds;
}

/// The rate of a copy that is made, sealed and mapped, as a user gets it.
double copy_rate(const SparseModel& file, HugePages huge) {
  std::optional<SharedModel> model;
  return gibibytes_per_second(
      file, seconds_of([&] { model = opened(file, {.loading = ModelLoading::copy, .huge_pages = huge}); }));
}

void measure_copy(std::vector<Figure>& figures, const SparseModel& file, Pages pages, int rounds) {
  const Descriptor source = file.open();
  const auto raw_rate = [&](const RawMethod& method) {
    return gibibytes_per_second(file, method.seconds(source.get(), file.bytes(), pages));
  };
  const HugePages huge = pages == Pages::huge ? HugePages::always : HugePages::never;
  std::vector<Samples> each(raw_methods().size());
  std::vector<double> ours;
  for (int round = -1; round < rounds; ++round) {  // The first does not count.
    for (std::size_t i = 0; i < each.size(); ++i) {
      const double rate = raw_rate(raw_methods()[i]);
      if (round >= 0) each[i].limit.push_back(rate);
    }
    const double rate = copy_rate(file, huge);
    if (round >= 0) ours.push_back(rate);
  }
  const std::string what = fmt::format("copy {} to {}", file.size(), pages == Pages::huge ? "huge pages" : "a memfd");
  std::size_t best = 0;
  for (std::size_t i = 0; i < each.size(); ++i) {
    each[i].ours = ours;
    if (median(each[i].limit) > median(each[best].limit)) best = i;
  }
  for (std::size_t i = 0; i < each.size(); ++i) {
    const std::optional<Bar> bar = i == best ? std::optional(Bar{Bound::at_least, 0.9}) : std::nullopt;
    figures.push_back(ratio_figure({what, raw_methods()[i].name + (i == best ? " (the best)" : ""), "GiB/s"}, each[i],
                                   Ratio::ours_to_limit, bar));
  }
}

// ---- reading ----

/// Reads every byte.
std::uint64_t sum_of(const SharedModel& model) {
  std::uint64_t sum = 0;
  for (const TensorView& tensor : model.tensors()) {
    for (const std::uint16_t element : tensor.as<std::uint16_t>().value()) sum += element;
  }
  return sum;
}

/// The PSS of forked replicas, together, after each has done its work.
std::uint64_t pss_of_replicas(const std::function<void()>& work) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  std::vector<pid_t> children;
  for (int i = 0; i < replicas; ++i) {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork");
    if (child == 0) {
      work();
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    children.push_back(child);
  }
  char byte = 0;
  for (int i = 0; i < replicas; ++i) {
    if (::read(ready[0], &byte, 1) != 1) throw std::runtime_error("a replica ended");
  }
  std::uint64_t sum = 0;
  for (const pid_t child : children) sum += memory_of(child).pss_kib * 1024;
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  return sum;
}

void measure_memory(std::vector<Figure>& figures, const SparseModel& file, const ModelOptions& options) {
  const SharedModel model = opened(file, options);
  const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(mebibyte); };
  const std::uint64_t empty = pss_of_replicas([] {});
  const std::uint64_t readers = pss_of_replicas([&] {
    if (sum_of(model) != 0) ::_exit(1);
  });
  Samples samples;
  samples.limit = {mib(file.bytes() + empty)};
  samples.ours = {mib(readers)};
  const double allowed = (1.02 * mib(file.bytes()) + mib(empty)) / samples.limit.front();
  figures.push_back(
      ratio_figure({fmt::format("PSS of {} replicas that read {} ({})", replicas, file.size(), model.mapped_by()),
                    fmt::format("the model + {} that do nothing", replicas), "MiB"},
                   std::move(samples), Ratio::ours_to_limit, Bar{Bound::at_most, allowed}));
}

/// As large as asked for, but no larger than what page cache and copies have room for.
std::uint64_t affordable(double gibibytes) {
  auto bytes = static_cast<std::uint64_t>(gibibytes * 1024) * mebibyte;
  struct sysinfo memory {};
  ::sysinfo(&memory);
  // The page cache of the model, a copy of it, and as much again for whoever else is here.
  const std::uint64_t most = std::uint64_t{memory.totalram} * memory.mem_unit / 3 / mebibyte * mebibyte;
  if (bytes > most) {
    fmt::print("note: a model of {} instead of {}, as this machine has {} of memory\n", size_text(most),
               size_text(bytes), size_text(std::uint64_t{memory.totalram} * memory.mem_unit));
    bytes = most;
  }
  return bytes;
}

std::vector<Figure> measure_all(const Options& options, const Workspace& workspace, double gibibytes) {
  const SparseModel large(workspace.file("large.safetensors"), affordable(gibibytes));
  const SparseModel small(workspace.file("small.safetensors"), 64 * mebibyte);
  large.warm();
  small.warm();
  std::vector<Figure> figures;
  measure_open(figures, large, small, options.rounds);
  measure_memory(figures, large, {});
  const int copies = std::min(options.rounds, 5);
  measure_copy(figures, large, Pages::small, copies);
  measure_memory(figures, large, {.loading = ModelLoading::copy, .huge_pages = HugePages::never});
  if (may_have_huge_pages()) {
    measure_copy(figures, large, Pages::huge, copies);
  } else {
    fmt::print("note: no huge pages, which need CAP_SYS_ADMIN\n");
  }
  return figures;
}

}  // namespace
}  // namespace forklift::bench

int main(int argc, char** argv) {
  using namespace forklift::bench;
  return run_bench([&] {
    double gibibytes = 0;
    boost::program_options::options_description own;
    own.add_options()("gib", boost::program_options::value<double>(&gibibytes)->default_value(8),
                      "size of the large model; less where the machine is smaller");
    const Options options = parse_options(argc, argv, own);
    const Workspace workspace;
    publish("model", measure_all(options, workspace, gibibytes), options);
  });
}
