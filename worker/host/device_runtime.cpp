#include "worker/host/device_runtime.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "worker/thread_names.hpp"

namespace forklift {
namespace {

/// A runtime is at work if one of its device files is open and, where one is named, its library is mapped; or if it has
/// started its threads.
struct Runtime {
  std::string_view name;
  std::string_view device;   ///< Beginning of the device file's path; empty: the threads tell.
  std::string_view library;  ///< Part of the library's file name; empty: any.
  std::string_view thread;   ///< Beginning of a thread's name; empty: the device tells.
  std::string_view remedy;
};

constexpr std::string_view touch_later = "touch the device only inside the function, and restart this process (kernel)";

constexpr auto runtimes = std::to_array<Runtime>({
    {"CUDA", "/dev/nvidia", "libcuda.so", "", touch_later},
    {"ROCm", "/dev/kfd", "", "", touch_later},
    {"the TPU runtime (libtpu)", "/dev/accel", "libtpu", "", touch_later},
    {"the TPU runtime (libtpu)", "/dev/vfio/", "libtpu", "", touch_later},
    {"Neuron", "/dev/neuron", "libnrt", "", touch_later},
    {"Gaudi", "/dev/accel/accel", "libSynapse", "", touch_later},
    // The XLA client of JAX and torch_xla, which has threads even on the CPU.
    {"an XLA client (JAX or torch_xla)", "", "", "tf_XLA", touch_later},
    {"an XLA client (JAX or torch_xla)", "", "", "tf_PjRt", touch_later},
    {"an XLA client (JAX or torch_xla)", "", "", "py_xla", touch_later},
});

template <class Predicate>
const std::string* find(const std::vector<std::string>& all, Predicate fits) {
  const auto found = std::find_if(all.begin(), all.end(), fits);
  return found == all.end() ? nullptr : &*found;
}

/// How the runtime shows itself: "/dev/nvidia0 is open and libcuda.so.1 is mapped"; empty: not at work.
std::string sign_of(const Runtime& runtime, const ProcessPhotograph& photograph) {
  if (runtime.device.empty()) {
    const std::string* thread =
        find(photograph.threads, [&](const std::string& name) { return name.starts_with(runtime.thread); });
    return thread == nullptr ? std::string{} : "its thread " + *thread + " runs";
  }
  const std::string* device =
      find(photograph.open_files, [&](const std::string& path) { return path.starts_with(runtime.device); });
  if (device == nullptr) return {};
  if (runtime.library.empty()) return *device + " is open";
  const std::string* library = find(photograph.mapped_libraries, [&](const std::string& path) {
    return path.substr(path.rfind('/') + 1).find(runtime.library) != std::string::npos;
  });
  if (library == nullptr) return {};
  return *device + " is open and " + library->substr(library->rfind('/') + 1) + " is loaded";
}

std::vector<std::string> open_files_of_self() {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry->path(), gone);
    if (!gone) files.push_back(target.string());
  }
  return files;
}

std::vector<std::string> mapped_libraries_of_self() {
  std::set<std::string> paths;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.find('/');
    if (slash != std::string::npos && line.find(".so", slash) != std::string::npos) paths.insert(line.substr(slash));
  }
  return {paths.begin(), paths.end()};
}

}  // namespace

ProcessPhotograph photograph_of_self() {
  return {open_files_of_self(), mapped_libraries_of_self(), names_of_other_threads()};
}

std::optional<std::string> runtime_that_forbids_fork(const ProcessPhotograph& photograph) {
  for (const Runtime& runtime : runtimes) {
    const std::string sign = sign_of(runtime, photograph);
    if (sign.empty()) continue;
    return std::string(runtime.name) + " is initialised in this process (" + sign +
           ") and does not survive a fork: " + std::string(runtime.remedy);
  }
  return std::nullopt;
}

}  // namespace forklift
