// The stage of the ForkStarter's tests: templates that do not keep to the protocol, each a fork of the test that plays
// its part, and a client that writes down what it is told.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/supervise/fork_starter.hpp"
#include "launcher/system/process_table.hpp"
#include "tests/supervise/console_ends.hpp"
#include "tests/support/leak_check.hpp"
#include "worker/control_socket.hpp"

namespace forklift {

[[noreturn]] inline void wait_for_ever() {
  for (;;) ::pause();
}

// ---- what the players do ------------------------------------------------------------------------------------------

/// The next message of this type; ends the player when the other side is gone.
template <class Message>
Message expect(const ControlSocket& control, Arrived& arrived) {
  for (;;) {
    if (control.receive(arrived) == Arrival::closed) ::_exit(0);
    if (const auto* message = std::get_if<Message>(&arrived.message)) return *message;
  }
}

struct Request {
  control::ForkReplica wanted;
  ControlSocket control;
};

/// Says Ready and takes the requests of one group.
inline std::vector<Request> ready_for_group(const ControlSocket& control) {
  std::ignore = control.send(control::Ready{});
  Arrived arrived;
  const auto group = expect<control::ForkGroup>(control, arrived);
  std::vector<Request> requests;
  for (int i = 0; i < group.replicas; ++i) {
    const auto wanted = expect<control::ForkReplica>(control, arrived);
    requests.push_back({wanted, ControlSocket(std::move(arrived.descriptors.front()))});
  }
  return requests;
}

/// A process that becomes a child of the test, and waits for its Go after it has said `first`.
inline void make_replica(Request& request, const control::Message& first) {
  if (const pid_t middle = ::fork(); middle != 0) {
    ::waitpid(middle, nullptr, 0);
    request.control.close();
    return;
  }
  if (::fork() != 0) ::_exit(0);
  std::ignore = request.control.send(first);
  Arrived arrived;
  expect<control::Go>(request.control, arrived);
  expect<control::HostStop>(request.control, arrived);  // Nobody sends it: until the socket is closed.
  ::_exit(0);
}

inline control::Hello hello_of(const Request& request) { return {Attempt{0}, request.wanted.rank}; }

// ---- the stage ----------------------------------------------------------------------------------------------------

class ForkStarterTest : public support::LeakChecked, private ReplicaStarter::Client {
 protected:
  using Player = std::function<void(ControlSocket)>;

  ForkStarterTest() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    console_ends_ = console_pipe();
    ConsoleSettings settings;
    settings.standard_output = console_ends_.near.get();
    settings.standard_error = console_ends_.near.get();
    console_ = std::make_unique<Console>(io_, settings);
  }
  ~ForkStarterTest() override {
    if (starter_) starter_->close();
    starter_.reset();
    console_.reset();
    running_.clear();
    EXPECT_TRUE(end_descendants({}, 30'000).empty());
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  /// A job of so many replicas under a template that does what `player` does.
  void stage(int replicas, const Player& player, std::chrono::milliseconds fork_time = std::chrono::seconds(30)) {
    inputs_.plan.start_method = StartMethod::from_template;
    for (int rank = 0; rank < replicas; ++rank) {
      ReplicaPlan replica;
      replica.rank = Rank{rank};
      replica.local_rank = LocalRank{rank};
      replica.argv = {"template"};
      inputs_.plan.replicas.push_back(replica);
    }
    sigset_t mask;
    sigemptyset(&mask);
    starter_ = std::make_unique<ForkStarter>(
        io_, inputs_, mask, *console_,
        ForkStarter::Callbacks{[this](pid_t pid) { tell("template " + std::string(pid == 0 ? "gone" : "runs")); },
                               [this](const Ending&) { tell("template failed"); },
                               [this](const std::string& note) { notes_.push_back(note); },
                               [this](Rank rank, const Arrived&) { tell("said " + std::to_string(rank.value)); },
                               [this] { tell("forked"); }},
        fork_time);
    auto pair = ControlSocket::make_pair();
    ASSERT_TRUE(pair);
    template_ = ::fork();
    if (template_ == 0) {
      ::setpgid(0, 0);
      pair.value().first.close();
      player(std::move(pair.value().second));
      ::_exit(0);
    }
    ::setpgid(template_, template_);
    pair.value().second.close();
    EXPECT_FALSE(starter_->process().adopt(template_, std::move(pair.value().first)).has_value());
    starter_->start({Attempt{0}, "/nowhere", {}}, *this);
  }

  void until(const std::string& told) {
    run_until(io_, [&] { return std::find(told_.begin(), told_.end(), told) != told_.end(); });
  }
  [[nodiscard]] ForkStarter& starter() { return *starter_; }
  [[nodiscard]] ReplicaStarter::Client& client() { return *this; }
  [[nodiscard]] pid_t template_pid() const { return template_; }
  [[nodiscard]] const std::vector<std::string>& told() const { return told_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] boost::asio::io_context& io() { return io_; }

  /// As the policy does: the first failure cancels the start.
  enum class AtFailure { go_on, cancel } at_failure_ = AtFailure::cancel;

 private:
  void replica_runs(const ReplicaPlan& replica, StartedReplica started) override {
    running_.push_back(std::move(started));
    tell("runs " + std::to_string(replica.rank.value));
  }
  void replica_failed_to_start(const ReplicaPlan& replica, FailedToStart failure, double) override {
    tell("failed " + std::to_string(replica.rank.value) + " " + ::strerrorname_np(failure.os_errno));
    if (at_failure_ == AtFailure::cancel) starter_->cancel();
  }
  void start_is_complete(std::span<const ReplicaPlan* const> never_started) override {
    std::string words = "complete without";
    for (const ReplicaPlan* replica : never_started) words += " " + std::to_string(replica->rank.value);
    tell(words);
  }
  void tell(const std::string& what) { told_.push_back(what); }

  RunInputs inputs_;
  boost::asio::io_context io_;
  Ends console_ends_;
  std::unique_ptr<Console> console_;
  std::unique_ptr<ForkStarter> starter_;
  pid_t template_ = 0;
  std::vector<std::string> told_;
  std::vector<std::string> notes_;
  std::vector<StartedReplica> running_;
};

}  // namespace forklift
