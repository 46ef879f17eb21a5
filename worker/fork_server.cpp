#include "worker/fork_server.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "worker/kernel_file.hpp"
#include "worker/thread_names.hpp"

namespace forklift {
namespace {

void run(const std::function<void()>& hook) {
  if (hook) hook();
}

/// Text that waits in a buffer would be printed once by every process that has a copy of it.
void flush_everything() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

/// fork() as a runtime wants it. glibc's own, not the bare system call: its handlers mend malloc and the libraries.
pid_t fork_with(const ForkHooks& hooks) {
  run(hooks.before);
  const pid_t pid = ::fork();
  const int error = errno;
  run(pid == 0 ? hooks.child : hooks.parent);
  errno = error;
  return pid;
}

void wait_for(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void give_up() { ::_exit(125); }

/// The descriptors of a ForkReplica, by their places in it.
enum Place { control_socket, standard_streams, places = standard_streams + 3 };

// What was received has the lowest free numbers: 0, 1, 2 among them where the template has closed its own.
void move_off_standard_numbers(std::vector<Descriptor>& descriptors) {
  for (Descriptor& source : descriptors) {
    if (source.get() < 3) source = Descriptor(::fcntl(source.get(), F_DUPFD_CLOEXEC, 3));
  }
}

void place_standard_streams(std::vector<Descriptor>& descriptors) {
  for (int target = 0; target < 3; ++target) {
    Descriptor& source = descriptors[static_cast<std::size_t>(standard_streams + target)];
    if (::dup2(source.get(), target) < 0) give_up();
    source.close();
  }
}

// The template may have met the end of its own standard input, which stdio remembers.
void forget_end_of_input() { std::clearerr(stdin); }

void bind_to(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &mask);
  }
  ::sched_setaffinity(0, sizeof mask, &mask);
}

void prefer_as_oom_victim() {
  constexpr int wanted = 500;
  const char* const own_score = "/proc/self/oom_score_adj";
  const auto own = read_kernel_file(own_score);
  if (!own || std::atoi(own->c_str()) >= wanted) return;
  const Descriptor file(::open(own_score, O_WRONLY | O_CLOEXEC));
  if (file.valid()) [[maybe_unused]]
    const auto written = ::write(file.get(), "500", 3);
}

void apply(const std::vector<EnvironmentVariable>& set) {
  for (const EnvironmentVariable& variable : set) ::setenv(variable.name.c_str(), variable.value.c_str(), 1);
}

/// The variables of one replica over those that all share, then those of the next.
class OwnVariables {
 public:
  void take(const std::vector<EnvironmentVariable>& set) {
    for (auto& [name, variable] : overridden_) variable.is_own = false;
    for (const EnvironmentVariable& variable : set) {
      const auto [place, is_new] = overridden_.try_emplace(variable.name);
      if (is_new) place->second.before = value_of(variable.name);
      place->second.is_own = true;
    }
    apply(set);
    for (const auto& [name, variable] : overridden_) {
      if (!variable.is_own) give_back(name, variable.before);
    }
  }

 private:
  struct Overridden {
    std::optional<std::string> before;
    bool is_own = false;
  };

  static std::optional<std::string> value_of(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  static void give_back(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }

  std::map<std::string, Overridden> overridden_;
};

void take_terminal() {
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGTTOU);
  ::sigprocmask(SIG_BLOCK, &only, &before);
  ::tcsetpgrp(STDIN_FILENO, ::getpid());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

void wait_for_go(const ControlSocket& control, int supervisor, std::string_view go) {
  for (Arrival arrival = Arrival::foreign; arrival != Arrival::message;) {
    arrival = control.receive_expected(go);
    if (arrival == Arrival::closed) ::_exit(0);  // The start was cancelled, or the supervisor is gone.
  }
  // After this order of calls, whoever dies in between is noticed: by the signal, or by the other parent.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(125);
}

/// What the middle process prepares, of the group and then of each replica, before it forks: a new process copies every
/// page that it writes to, and finds every function that nobody has called before. To write an environment, to decode
/// and to free messages in the replica would cost more than its fork.
class Group {
 public:
  explicit Group(const control::ForkGroup& wanted)
      : wanted_(wanted), go_(control::encode(control::Go{wanted.supervisor})) {
    flush_everything();
    forget_end_of_input();
    prefer_as_oom_victim();
    for (const std::string& name : wanted.unset) ::unsetenv(name.c_str());
    ::unsetenv("FORKLIFT_TEMPLATE");
    apply(wanted.set);
  }

  [[nodiscard]] int replicas() const { return wanted_.replicas; }

  /// In the middle: what comes next is this replica.
  void prepare(const control::ForkReplica& wanted, std::vector<Descriptor>& descriptors) {
    move_off_standard_numbers(descriptors);
    own_.assign(wanted.set.begin(), wanted.set.end());
    own_.push_back({"FORKLIFT_CONTROL_FD", std::to_string(descriptors[control_socket].get())});
    variables_.take(own_);
    hello_ = control::encode(control::Hello{wanted_.attempt, wanted.rank});
  }

  /// In the replica itself.
  ReplicaSeat become(const control::ForkReplica& wanted, std::vector<Descriptor>& descriptors,
                     const ForkHooks& hooks) const {
    ::setpgid(0, 0);
    place_standard_streams(descriptors);
    bind_to(wanted.cpus);
    ReplicaSeat seat{wanted_.attempt, wanted.rank, wanted.local_rank,
                     ControlSocket(std::move(descriptors[control_socket]))};
    if (!seat.control.send_encoded(hello_)) ::_exit(0);
    wait_for_go(seat.control, wanted_.supervisor, go_);
    if (wanted.foreground == control::Foreground::yes) take_terminal();
    if (hooks.environment) tell_environment(hooks);
    return seat;
  }

 private:
  void tell_environment(const ForkHooks& hooks) const {
    std::vector<EnvironmentVariable> set = wanted_.set;
    set.insert(set.end(), own_.begin(), own_.end());
    std::vector<std::string> unset = wanted_.unset;
    unset.emplace_back("FORKLIFT_TEMPLATE");
    hooks.environment(set, unset);
  }

  const control::ForkGroup wanted_;
  const std::string go_;
  OwnVariables variables_;
  std::vector<EnvironmentVariable> own_;  ///< Of the replica that comes next.
  std::string hello_;                     ///< Its first word.
};

/// Says on the socket of a replica that it will not be. Where not even that has come, its other end sees it closed.
void refuse(Arrived& request, int error) {
  if (request.descriptors.empty()) return;
  const ControlSocket own(std::move(request.descriptors[control_socket]));
  std::ignore = own.send(control::ForkFailed{error});
}

/// The middle process. Returns a seat in each replica; the middle itself exits. Neither frees what is on the heap here.
ReplicaSeat fork_group(ControlSocket& requests, const control::ForkGroup& wanted_group, const ForkHooks& hooks) {
  auto& group = *new Group(wanted_group);
  auto& request = *new Arrived();
  for (int forked = 0; forked < group.replicas(); ++forked) {
    const Arrival arrival = requests.receive(request);
    if (arrival == Arrival::closed) ::_exit(0);
    const auto* wanted = std::get_if<control::ForkReplica>(&request.message);
    if (arrival != Arrival::message || wanted == nullptr || request.descriptors.size() != places) {
      refuse(request, EMFILE);
      continue;
    }
    group.prepare(*wanted, request.descriptors);
    const pid_t pid = fork_with(hooks);
    if (pid == 0) {
      requests.close();
      return group.become(*wanted, request.descriptors, hooks);
    }
    if (pid < 0) refuse(request, errno);
  }
  ::_exit(0);
}

}  // namespace

ReplicaSeat serve_forks(ControlSocket control, const ForkHooks& hooks) {
  flush_everything();
  if (!control.send(control::Ready{names_of_other_threads()})) ::_exit(0);
  auto& arrived = *new Arrived();  // Never freed: see fork_group.
  for (;;) {
    const Arrival arrival = control.receive(arrived);
    if (arrival == Arrival::closed) ::_exit(0);
    const auto* group = std::get_if<control::ForkGroup>(&arrived.message);
    if (arrival != Arrival::message || group == nullptr) continue;
    const pid_t self = ::getpid();
    flush_everything();
    const pid_t middle = fork_with(hooks);
    if (middle == 0) {
      // If the template is killed, whoever is half made must not fork on.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != self) ::_exit(0);
      return fork_group(control, *group, hooks);
    }
    if (middle < 0) {
      // Every replica of the group has the same reason, and somebody has to read its request.
      const int error = errno;
      for (int told = 0; told < group->replicas; ++told) {
        Arrived request;
        if (control.receive(request) == Arrival::closed) ::_exit(0);
        refuse(request, error);
      }
    } else {
      wait_for(middle);
    }
    if (!control.send(control::Forked{group->attempt})) ::_exit(0);
  }
}

}  // namespace forklift
