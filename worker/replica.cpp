// Who this process is, its heartbeat and its last words.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "forklift/worker.hpp"
#include "worker/descriptor.hpp"
#include "worker/format/error_file.hpp"
#include "worker/format/heartbeat.hpp"

namespace forklift {
namespace {

int number_from(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  int number = otherwise;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  return error == std::errc{} && *end == '\0' && number >= 0 ? number : otherwise;
}

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Replica Replica::from_environment() {
  Replica replica;
  replica.world_size_ = std::max(1, number_from("WORLD_SIZE", 1));
  replica.local_world_size_ = std::max(1, number_from("LOCAL_WORLD_SIZE", replica.world_size_));
  replica.rank_ = number_from("RANK", 0);
  replica.local_rank_ = number_from("LOCAL_RANK", replica.rank_);
  replica.attempt_ = number_from("FORKLIFT_ATTEMPT", 0);
  if (const char* directory = std::getenv("FORKLIFT_RUN_DIR"); directory != nullptr) replica.run_directory_ = directory;
  return replica;
}

void Replica::heartbeat(std::int64_t step) const noexcept {
  if (!supervised()) return;
  // One descriptor per process, opened at the first beat; a forked replica has its own, at its own place in the file.
  static std::atomic<int> file{-2};
  int open = file.load();
  if (open == -2) {
    open = ::open(heartbeat_file(run_directory_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int unopened = -2;
    if (!file.compare_exchange_strong(unopened, open)) {
      if (open >= 0) ::close(open);
      open = unopened;
    }
  }
  if (open < 0) return;
  const Heartbeat beat{monotonic_ns(), step, attempt_};
  const auto bytes = encode_heartbeat(beat);
  [[maybe_unused]] const auto written = ::pwrite(open, bytes.data(), bytes.size(), heartbeat_offset(Rank{rank_}));
}

void Replica::report_failure(std::string_view type, std::string_view text, std::string_view traceback) const noexcept {
  const std::string words = type.empty()   ? std::string(text.empty() ? "it gave no reason" : text)
                            : text.empty() ? std::string(type)
                                           : std::string(type) + ": " + std::string(text);
  if (!supervised()) {
    std::fprintf(stderr, "%s\n", words.c_str());
    return;
  }
  const std::string folder = run_directory_ + "/errors";
  ::mkdir(folder.c_str(), 0700);
  const std::string path = folder + "/" + std::to_string(attempt_) + "-" + std::to_string(rank_) + ".json";
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.valid() && write_all(file.get(), write_error_file(words, traceback, std::time(nullptr)))) return;
  if (file.valid() || errno != EEXIST) std::fprintf(stderr, "%s\n", words.c_str());
}

}  // namespace forklift
