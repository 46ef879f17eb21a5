// The door of a program that already runs (a notebook, a service, a test): fork N replicas of this very process and run
// a function in each.
//
//     auto model = forklift::SharedModel::open("bert.safetensors").value();      // once, here
//     auto report = forklift::notebook_launcher(
//         [&](forklift::Replica& me) { return train(model, me.rank(), me.world_size()); }, {.num_processes = 8});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "forklift/report.hpp"
#include "forklift/result.hpp"
#include "forklift/worker.hpp"

namespace forklift {

using Bytes = std::vector<std::byte>;

/// What a replica's function returned; std::monostate: nothing, or it did not come to return.
using ReplicaValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Bytes>;

enum class SinkStream { standard_output, standard_error };

/// Whether a device runtime that is already at work in this process forbids the fork.
enum class RuntimeCheck { refuse, allow };

struct NotebookOptions {
  int num_processes = 1;  ///< 1 … 1,000,000; 1 runs the function in this very process, without forking.
  /// More words of `forklift launch`, such as {"--max-restarts", "2", "--cpu-binding", "core"}.
  std::vector<std::string> launch_options = {};
  /// Stands for the program in reports.
  std::string name = "function";
  /// Takes the prefixed output of the replicas, on the calling thread. Empty: descriptors 1 and 2, without a copy.
  std::function<void(SinkStream, std::string_view)> sink = {};
  /// Asked when a signal has interrupted the wait: true stops the job as Ctrl-C would. Empty: a SIGINT handler of our
  /// own is installed for the time of the call, and does that; the second SIGINT kills.
  std::function<bool()> interrupted = {};
  ForkHooks hooks = {};
  RuntimeCheck runtime_check = RuntimeCheck::refuse;
  /// The forklift binary that supervises. Empty: $FORKLIFT_BINARY, the one that was installed with this library, PATH.
  std::string binary = {};
};

struct NotebookReport {
  RunReport run;                     ///< The same report that `forklift launch` makes.
  std::vector<ReplicaValue> values;  ///< By rank, of the last attempt.
  std::vector<std::string> notes;    ///< Warnings, such as threads that the replicas do not have.
  [[nodiscard]] bool succeeded() const { return run.result == RunResult::succeeded; }
};

/// notebook_launcher without the conversion of results. `function` must return or throw; what it throws is reported
/// with its type and text.
Result<NotebookReport> launch_replicas(const std::function<ReplicaValue(Replica&)>& function,
                                       const NotebookOptions& options);

namespace detail {
template <class T>
ReplicaValue to_value(T value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Bytes> || std::is_same_v<T, std::string>) {
    return ReplicaValue(std::move(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return ReplicaValue(static_cast<double>(value));
  } else if constexpr (std::is_unsigned_v<T>) {
    return ReplicaValue(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return ReplicaValue(static_cast<std::int64_t>(value));
  } else {
    static_assert(std::is_convertible_v<T, std::string>,
                  "a replica's function returns void, an arithmetic type, std::string or forklift::Bytes");
    return ReplicaValue(std::string(std::move(value)));
  }
}
}  // namespace detail

/// Forks N replicas of the calling process, runs `function(Replica&)` in each, and returns when nothing of them is
/// left. A replica has the memory and the descriptors of this process, and of its threads only the one that calls; it
/// never returns from here: it ends by _exit after the function, without atexit handlers or destructors of this
/// process.
///
/// Supervision, output, restarts, diagnosis and report are those of `forklift launch`: they are done by two processes
/// that execute the forklift binary, so that nothing is forked, reaped or signalled in this one; its children, signal
/// handlers and SIGCHLD stay as they are. May be called from any thread, again and again, not by two threads at a time.
/// A failed replica is a report. Errors, before any fork: bad options (usage), no binary (not_found), a device runtime
/// that is initialised in this process (usage), no descriptors or memory (system).
template <class Function>
Result<NotebookReport> notebook_launcher(Function&& function, const NotebookOptions& options = {}) {
  using Returned = std::decay_t<std::invoke_result_t<Function&, Replica&>>;
  return launch_replicas(
      [&function](Replica& self) -> ReplicaValue {
        if constexpr (std::is_void_v<std::invoke_result_t<Function&, Replica&>>) {
          function(self);
          return std::monostate{};
        } else {
          return detail::to_value<Returned>(function(self));
        }
      },
      options);
}

}  // namespace forklift
