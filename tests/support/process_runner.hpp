// Runs a program as a person or a script would, and tells how it ended and what it wrote.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/eventually.hpp"
#include "worker/descriptor.hpp"

namespace forklift::support {

/// What the program reads.
enum class Input {
  null_device,
  closed,  ///< It has no descriptor 0.
  pipe,    ///< write_input(), until close_input().
};

/// What the program writes to.
enum class Streams {
  pipes,     ///< stdout and stderr are captured apart.
  terminal,  ///< 0, 1 and 2 are one terminal, in a session of its own; all that it shows is captured as stdout.
};

struct Command {
  std::vector<std::string> argv = {};                   ///< argv[0] is a path, or is looked up in PATH.
  std::map<std::string, std::string> environment = {};  ///< On top of our own.
  std::vector<std::string> unset = {};
  std::filesystem::path working_directory = {};  ///< Empty: our own.
  Input input = Input::null_device;              ///< Not for a terminal.
  Streams streams = Streams::pipes;
  std::vector<int> ignored_signals = {};  ///< As `nohup` does for SIGHUP.
  std::optional<uid_t> user = {};         ///< To run as somebody else; only root may.
};

/// How a program ended.
struct Ended {
  std::optional<int> exit_code;  ///< Empty if it was killed.
  std::optional<int> signal;     ///< Empty if it exited.
  std::string out;
  std::string err;
};
std::ostream& operator<<(std::ostream& stream, const Ended& ended);  // for messages of gtest

/// A program that was started; in a process group (with a terminal: a session) of its own. The destructor kills and
/// reaps what is left of the group, so that a failed test leaves nothing.
class RunningProcess {
 public:
  explicit RunningProcess(const Command& command);
  RunningProcess(const RunningProcess&) = delete;
  RunningProcess& operator=(const RunningProcess&) = delete;
  ~RunningProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& out() const { return out_.text; }
  [[nodiscard]] const std::string& err() const { return err_.text; }

  void write_input(std::string_view text) const;
  void close_input() { input_.close(); }
  void send(int signal) const;
  void send_to_group(int signal) const;

  /// Until stdout (or stderr) contains `text`. A failure shows what was written instead.
  ::testing::AssertionResult wait_for_out(std::string_view text, std::chrono::milliseconds deadline = generous);
  ::testing::AssertionResult wait_for_err(std::string_view text, std::chrono::milliseconds deadline = generous);

  /// Until it has ended and nobody holds its stdout or stderr any more. Past the deadline the test fails, and what was
  /// seen until then is returned.
  Ended wait(std::chrono::milliseconds deadline = std::chrono::minutes(2));

  /// Until it has ended; somebody else may still hold its streams.
  Ended wait_for_exit(std::chrono::milliseconds deadline = std::chrono::minutes(2));

 private:
  struct Stream {
    Descriptor descriptor;  ///< Closed at its end.
    std::string text;
  };

  bool pump(const std::function<bool()>& done, std::chrono::milliseconds deadline);
  ::testing::AssertionResult wait_for(const Stream& stream, std::string_view text, std::chrono::milliseconds deadline);
  static void read_available(Stream& stream);
  void reap_if_ended();
  [[nodiscard]] Ended ended() const;

  pid_t pid_ = -1;
  Descriptor pidfd_;
  Descriptor input_;
  Stream out_;
  Stream err_;
  std::optional<int> wait_status_;
};

/// Starts and waits.
Ended run(const Command& command, std::chrono::milliseconds deadline = std::chrono::minutes(2));

}  // namespace forklift::support
