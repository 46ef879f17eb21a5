// The template: the process that replicas are forked from. Started like a replica (or adopted, where a host program
// has forked it), watched, signalled, reaped; says when it has reached its fork point and when it has ended.
//
// One thread, one io_context.
#pragma once

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "forklift/outcome.hpp"
#include "launcher/supervise/replica_output.hpp"
#include "launcher/supervise/run_inputs.hpp"
#include "worker/control_socket.hpp"

namespace forklift {

class TemplateProcess {
 public:
  enum class State {
    absent,   ///< Not started, or ended.
    loading,  ///< On its way to the fork point.
    ready,    ///< At its fork point.
  };
  struct Callbacks {
    std::function<void()> ready;
    std::function<void(control::Forked)> forked;
    std::function<void(const Ending&)> ended;
  };

  TemplateProcess(boost::asio::io_context& io, const RunInputs& inputs, const sigset_t& original_mask, Console& console,
                  Callbacks callbacks);

  /// Starts the program as a template; its environment is that of the group in this attempt. Empty: it runs.
  std::optional<FailedToStart> start(const AttemptValues& values);
  /// Takes over a template that a host program has forked: a child of ours.
  std::optional<FailedToStart> adopt(pid_t pid, ControlSocket control);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool alive() const { return pid_ != 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }  ///< 0 if there is none.
  [[nodiscard]] const ControlSocket& control() const { return control_; }
  /// Names of the template's other threads, which its replicas do not have.
  [[nodiscard]] const std::vector<std::string>& threads() const { return threads_; }

  /// To its process group; a polite stop is followed by SIGCONT.
  void stop(int signal);
  void kill();
  /// SIGCHLD came: takes its end if `pid` is the template. True if it was.
  bool reap_if_template(pid_t pid);
  /// Reads what its pipes still hold.
  void drain() { output_.drain(); }
  /// Its ending with what it printed last. Only after it has ended.
  [[nodiscard]] Ending ending() const;
  /// No callback after this.
  void close();

 private:
  std::optional<FailedToStart> spawn_program(const AttemptValues& values, Descriptor child_control);
  std::optional<FailedToStart> watch(pid_t pid, Descriptor pidfd);
  void wait_for_messages();
  void read_messages();
  void wait_for_end();
  void take_end();

  boost::asio::io_context& io_;
  const RunInputs& inputs_;
  const sigset_t original_mask_;
  ReplicaOutput output_;
  Callbacks callbacks_;
  State state_ = State::absent;
  pid_t pid_ = 0;
  AskedToStop asked_ = AskedToStop::no;
  ControlSocket control_;
  std::optional<boost::asio::posix::stream_descriptor> control_watch_;  ///< Its own copy of the descriptor.
  std::optional<boost::asio::posix::stream_descriptor> pidfd_;
  std::vector<std::string> threads_;
  Ending ending_;
};

}  // namespace forklift
