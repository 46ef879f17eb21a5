// Programs run as a shell runs them, timed from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "worker/descriptor.hpp"

namespace forklift::bench {

using Clock = std::chrono::steady_clock;

struct Command {
  std::vector<std::string> argv;                        ///< argv[0] is a path.
  std::filesystem::path standard_output = "/dev/null";  ///< Written from its beginning.
  int expected_status = 0;                              ///< As a shell gives it: the exit code, or 128 + signal.
};

/// One running program: stdin is /dev/null, stderr is kept to explain an unexpected end.
class RunningProgram {
 public:
  /// Throws std::runtime_error if it cannot be started.
  explicit RunningProgram(Command command);
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  /// Kills it if it still runs.
  ~RunningProgram();

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(int signal) const;
  /// Returns when it was reaped. Throws std::runtime_error, with the end of its stderr, if it did not end as expected.
  Clock::time_point wait();
  /// Throws as wait() does if it has ended already.
  void check_still_running();

 private:
  [[noreturn]] void complain(int status) const;

  Command command_;
  Descriptor standard_error_;
  pid_t pid_ = -1;
};

/// Seconds from before the start to after the reap.
double seconds_of(const Command& command);

}  // namespace forklift::bench
