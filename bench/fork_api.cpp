// The fork API from inside a program: what a fork of 64 costs, that the model's size does not matter, and how soon 8
// replicas have done their first work over one shared model.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/support/options.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/rounds.hpp"
#include "bench/support/run_bench.hpp"
#include "bench/support/workspace.hpp"
#include "forklift/notebook_launcher.hpp"
#include "forklift/shared_model.hpp"

namespace forklift::bench {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t tensor_bytes = 16 * mebibyte;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

NotebookOptions options_for(const Options& options, int replicas) {
  NotebookOptions notebook;
  notebook.num_processes = replicas;
  notebook.launch_options = {"--cpu", "--quiet"};
  notebook.binary = options.forklift;
  return notebook;
}

template <class Function>
NotebookReport launch(const Options& options, int replicas, Function function) {
  auto report = notebook_launcher(function, options_for(options, replicas));
  if (!report) throw std::runtime_error(report.error().message);
  if (!report.value().succeeded()) throw std::runtime_error("a replica of the bench failed");
  return std::move(report).value();
}

/// The limit: what any program could do with fork() alone.
template <class Function>
void bare_forks(int replicas, Function function) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < replicas; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      function(rank);
      ::_exit(0);
    }
    if (child < 0) throw std::runtime_error("fork() failed");
    children.push_back(child);
  }
  for (const pid_t child : children) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    std::uint64_t kib = 0;
    if (key == "MemAvailable:" && file >> kib) return kib << 10;
  }
  return 0;
}

/// A model of 16 MiB tensors, all of it in the page cache. The file is a hole: its pages are real, its disk space is
/// not.
std::string make_model(const Workspace& workspace, const std::string& name, std::uint64_t bytes) {
  std::string header = "{";
  const std::uint64_t tensors = bytes / tensor_bytes;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    header += fmt::format("{}\"layer.{}.weight\":{{\"dtype\":\"F32\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                          i == 0 ? "" : ",", i, tensor_bytes / 4, i * tensor_bytes, (i + 1) * tensor_bytes);
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string path = workspace.file(name);
  std::ofstream file(path, std::ios::binary);
  const std::uint64_t length = header.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header;
  file.close();
  if (::truncate(path.c_str(), static_cast<off_t>(8 + length + tensors * tensor_bytes)) != 0) {
    throw std::runtime_error("cannot make the model file");
  }
  return path;
}

SharedModel open_warm(const std::string& path) {
  ModelOptions options;
  options.prefault = Prefault::yes;
  auto model = SharedModel::open(path, options);
  if (!model) throw std::runtime_error(model.error().message);
  return std::move(model).value();
}

double sum_of(std::span<const float> elements) { return std::accumulate(elements.begin(), elements.end(), 0.0); }

double touch_all(const SharedModel& model) {
  double sum = 0;
  for (const TensorView& tensor : model.tensors()) sum += sum_of(tensor.as<float>().value());
  return sum;
}

// ---- the figures --------------------------------------------------------------------------------------------------

Figure fork_of_64(const Options& options) {
  constexpr int replicas = 64;
  Samples samples = interleave(
      options.rounds,
      [] {
        const auto begin = Clock::now();
        bare_forks(replicas, [](int) {});
        return milliseconds_since(begin);
      },
      [&] {
        const auto begin = Clock::now();
        launch(options, replicas, [](Replica&) {});
        return milliseconds_since(begin);
      });
  return ratio_figure({fmt::format("fork API to all exited, {} replicas", replicas), "fork+waitpid", "ms"},
                      std::move(samples), Ratio::ours_to_limit, Bar{Bound::at_most, 2.2});
}

/// Both models are mapped; only the time from the call to the return is counted.
Figure fork_beside_large_model(const Options& options, const Workspace& workspace) {
  const std::uint64_t large =
      std::min<std::uint64_t>(8192 * mebibyte, available_memory() / 3 / tensor_bytes * tensor_bytes);
  const std::string small_path = make_model(workspace, "small.safetensors", 64 * mebibyte);
  const std::string large_path = make_model(workspace, "large.safetensors", large);
  const auto time_with = [&](const std::string& path) {
    const SharedModel model = open_warm(path);
    const auto begin = Clock::now();
    launch(options, 8, [&](Replica&) { return static_cast<double>(model.bytes()); });
    return milliseconds_since(begin);
  };
  Samples samples = interleave(
      std::min(options.rounds, 7), [&] { return time_with(small_path); }, [&] { return time_with(large_path); });
  return ratio_figure({fmt::format("fork of 8 beside a model of {} MiB", large / mebibyte), "beside 64 MiB", "ms"},
                      std::move(samples), Ratio::ours_to_limit, Bar{Bound::at_most, 1.15});
}

/// From nothing to the moment at which all 8 have added up one layer; the other side read()s the file into memory of
/// its own first, as a loader without sharing does.
Figure first_work(const Options& options, const Workspace& workspace) {
  const std::string path = make_model(workspace, "model.safetensors", 1024 * mebibyte);
  open_warm(path);
  Samples samples = interleave(
      std::min(options.rounds, 5),
      [&] {
        const auto begin = Clock::now();
        bare_forks(8, [&](int rank) {
          std::ifstream file(path, std::ios::binary);
          std::vector<char> bytes(1024 * mebibyte);
          file.seekg(-static_cast<std::streamoff>(bytes.size()), std::ios::end);
          file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
          const auto* layer = reinterpret_cast<const float*>(bytes.data()) +
                              static_cast<std::uint64_t>(rank) * tensor_bytes / sizeof(float);
          if (sum_of({layer, tensor_bytes / sizeof(float)}) != 0) ::_exit(1);
        });
        return milliseconds_since(begin);
      },
      [&] {
        const auto begin = Clock::now();
        const auto model = SharedModel::open(path);
        if (!model) throw std::runtime_error(model.error().message);
        launch(options, 8, [&](Replica& self) {
          return sum_of(model.value().tensors()[static_cast<std::size_t>(self.rank())].as<float>().value());
        });
        return milliseconds_since(begin);
      });
  return ratio_figure({"first work of 8 replicas over a model of 1 GiB", "8 times read()", "ms"}, std::move(samples),
                      Ratio::limit_to_ours, Bar{Bound::at_least, 5});
}

/// Pss of the calling process, in MiB.
double own_share() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string key; file >> key;) {
    double kib = 0;
    if (key == "Pss:" && file >> kib) return kib / 1024;
  }
  return 0;
}

/// Nobody passes before all have come. For one use.
class Gate {
 public:
  explicit Gate(int replicas) : replicas_(replicas) {
    if (::pipe(here_) != 0 || ::pipe(open_) != 0) throw std::runtime_error("pipe() failed");
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    for (const int end : {here_[0], here_[1], open_[0], open_[1]}) ::close(end);
  }
  void pass(int rank) const {
    char token = 'x';
    [[maybe_unused]] auto moved = ::write(here_[1], &token, 1);
    for (int i = 0; rank == 0 && i < replicas_; ++i) moved = ::read(here_[0], &token, 1);
    for (int i = 0; rank == 0 && i < replicas_; ++i) moved = ::write(open_[1], &token, 1);
    moved = ::read(open_[0], &token, 1);
  }

 private:
  int replicas_;
  int here_[2] = {};
  int open_[2] = {};
};

enum class Copies { none, own };

/// Every replica has read all of the model and waits for the others before it looks at its share; nobody leaves before
/// all have looked. In MiB, together.
double memory_of_readers(const Options& options, const SharedModel* model, Copies copies) {
  constexpr int replicas = 8;
  const Gate all_have_read(replicas);
  const Gate all_have_looked(replicas);
  const auto report = launch(options, replicas, [&](Replica& self) {
    std::vector<float> copy;
    double sum = model == nullptr ? 0 : touch_all(*model);
    if (model != nullptr && copies == Copies::own) {
      for (const TensorView& tensor : model->tensors()) {
        const auto elements = tensor.as<float>().value();
        copy.insert(copy.end(), elements.begin(), elements.end());
      }
      sum += copy.back();
    }
    all_have_read.pass(self.rank());
    const double share = own_share();
    all_have_looked.pass(self.rank());
    return sum < 0 ? 0 : share;
  });
  double together = 0;
  for (const ReplicaValue& value : report.values) together += std::get<double>(value);
  return together;
}

std::vector<Figure> memory(const Options& options, const Workspace& workspace) {
  const double empty = memory_of_readers(options, nullptr, Copies::none);
  const std::uint64_t large =
      std::min<std::uint64_t>(4096 * mebibyte, available_memory() / 4 / tensor_bytes * tensor_bytes);
  const SharedModel model = open_warm(make_model(workspace, "readers.safetensors", large));
  const double together = memory_of_readers(options, &model, Copies::none);
  const auto bytes = static_cast<double>(large / mebibyte);
  const SharedModel small = open_warm(workspace.file("small.safetensors"));
  const double shared_small = memory_of_readers(options, &small, Copies::none);
  const double copied_small = memory_of_readers(options, &small, Copies::own);
  return {
      // The host maps it as well and holds a ninth of every page.
      plain_figure(fmt::format("memory of 8 readers of {:.0f} MiB, against model + 8 empty", bytes),
                   together / (bytes + empty), "x", Bar{Bound::at_most, 1.02}),
      plain_figure("memory of 8 copies of 64 MiB, against 8 sharing (both without what an empty one holds)",
                   (copied_small - empty) / (shared_small - empty), "x", Bar{Bound::at_least, 7}),
  };
}

std::vector<Figure> measure_all(const Options& options, const Workspace& workspace) {
  std::vector<Figure> figures{fork_of_64(options), fork_beside_large_model(options, workspace),
                              first_work(options, workspace)};
  for (Figure& figure : memory(options, workspace)) figures.push_back(std::move(figure));
  return figures;
}

}  // namespace
}  // namespace forklift::bench

int main(int argc, char** argv) {
  using namespace forklift::bench;
  return run_bench([&] {
    const Options options = parse_options(argc, argv);
    const Workspace workspace;
    publish("fork_api", measure_all(options, workspace), options);
  });
}
