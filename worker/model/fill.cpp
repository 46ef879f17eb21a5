#include "worker/model/fill.hpp"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "worker/model/file_io.hpp"

namespace forklift::weights {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t slice_bytes = std::uint64_t{16} << 20U;
// Stays in the cache of a core between the two system calls (measured against mapping either side, sendfile and
// splice).
constexpr std::size_t buffer_bytes = std::size_t{256} << 10U;
constexpr unsigned most_threads = 4;

struct Slice {
  std::size_t run;
  std::uint64_t begin;  ///< In the run.
  std::uint64_t length;
};

std::vector<Slice> slices_of(const std::vector<FillRun>& runs) {
  std::vector<Slice> slices;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (std::uint64_t begin = 0; begin < runs[run].length; begin += slice_bytes) {
      slices.push_back({run, begin, std::min(slice_bytes, runs[run].length - begin)});
    }
  }
  return slices;
}

unsigned usable_cores() {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) return static_cast<unsigned>(CPU_COUNT(&usable));
  return std::max(1U, std::thread::hardware_concurrency());  // More cores than the set has bits.
}

/// The work that all threads share.
class Filling {
 public:
  Filling(int destination, const std::vector<FillRun>& runs)
      : destination_(destination), runs_(runs), slices_(slices_of(runs)) {
    for (const FillRun& run : runs) total_ += run.length;
  }

  /// Takes slices until there are none or one failed.
  void work() {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    while (!stop_.load(std::memory_order_relaxed)) {
      const std::size_t next = next_.fetch_add(1, std::memory_order_relaxed);
      if (next >= slices_.size()) return;
      if (auto failed = copy(slices_[next], buffer.get())) return fail(*failed);
    }
  }

  [[nodiscard]] std::uint64_t copied() const { return copied_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::size_t slices() const { return slices_.size(); }
  [[nodiscard]] const std::optional<FillFailure>& failure() const { return failure_; }

 private:
  std::optional<FillFailure> copy(const Slice& slice, std::byte* buffer) {
    const FillRun& run = runs_[slice.run];
    for (std::uint64_t done = 0; done < slice.length;) {
      const std::uint64_t at = slice.begin + done;
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes, slice.length - done));
      const std::byte* from = run.memory + at;
      if (run.source >= 0) {
        const Transferred read = read_at(run.source, buffer, count, run.source_offset + at);
        if (read.os_errno != 0) return FillFailure{slice.run, FillFailure::Side::source, read.os_errno};
        if (read.bytes < count) return FillFailure{slice.run, FillFailure::Side::source_ended, 0};
        from = buffer;
      }
      const Transferred written = write_at(destination_, from, count, run.destination + at);
      if (written.bytes < count) return FillFailure{slice.run, FillFailure::Side::destination, written.os_errno};
      done += count;
      copied_.fetch_add(count, std::memory_order_relaxed);
    }
    return std::nullopt;
  }

  void fail(const FillFailure& failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    stop_ = true;
  }

  const int destination_;
  const std::vector<FillRun>& runs_;
  const std::vector<Slice> slices_;
  std::uint64_t total_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> copied_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::optional<FillFailure> failure_;
};

/// Tells of the progress while others work.
class Watch {
 public:
  Watch(const Filling& filling, const CopyObserver& observer) : filling_(filling), observer_(observer) {}

  void one_ended() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_one();
  }

  void until_ended(std::size_t threads) {
    constexpr std::chrono::milliseconds interval{100};
    std::unique_lock lock(mutex_);
    while (ended_ < threads) {
      changed_.wait_for(lock, interval);
      if (ended_ < threads) tell();
    }
  }

  void tell() const {
    if (!observer_) return;
    observer_({filling_.copied(), filling_.total(), std::chrono::duration<double>(Clock::now() - begun_).count()});
  }

 private:
  const Filling& filling_;
  const CopyObserver& observer_;
  const Clock::time_point begun_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t ended_ = 0;
};

/// Starts `wanted` threads that `run`, or as many as the machine allows. They take no signals: those are for the
/// threads of the program that we are part of.
template <class Run>
std::vector<std::jthread> start_threads(std::size_t wanted, const Run& run) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::vector<std::jthread> threads;
  threads.reserve(wanted);
  try {
    while (threads.size() < wanted) threads.emplace_back(run);
  } catch (const std::system_error&) {  // A limit of threads: those that could be started do the work.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return threads;
}

}  // namespace

std::optional<FillFailure> fill(int destination, const std::vector<FillRun>& runs, const CopyObserver& observer) {
  Filling filling(destination, runs);
  Watch watch(filling, observer);
  if (filling.slices() > 1) {
    const auto threads = start_threads(std::min<std::size_t>({usable_cores(), most_threads, filling.slices()}), [&] {
      filling.work();
      watch.one_ended();
    });
    watch.until_ended(threads.size());
  }
  filling.work();  // What is left: all of it if there are no threads.
  watch.tell();
  return filling.failure();
}

}  // namespace forklift::weights
