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
#include <optional>
#include <utility>

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
  flush_everything();
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
void place_standard_streams(std::vector<Descriptor>& descriptors) {
  for (Descriptor& source : descriptors) {
    if (source.get() < 3) source = Descriptor(::fcntl(source.get(), F_DUPFD_CLOEXEC, 3));
  }
  for (int target = 0; target < 3; ++target) {
    if (::dup2(descriptors[static_cast<std::size_t>(standard_streams + target)].get(), target) < 0) give_up();
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

void apply(const std::vector<EnvironmentVariable>& set) {
  for (const EnvironmentVariable& variable : set) ::setenv(variable.name.c_str(), variable.value.c_str(), 1);
}

void prefer_as_oom_victim() {
  const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file.valid()) [[maybe_unused]]
    const auto written = ::write(file.get(), "500", 3);
}

void take_terminal() {
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGTTOU);
  ::sigprocmask(SIG_BLOCK, &only, &before);
  ::tcsetpgrp(STDIN_FILENO, ::getpid());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

void wait_for_go(const ControlSocket& control) {
  Arrived arrived;
  for (;;) {
    const Arrival arrival = control.receive(arrived);
    if (arrival == Arrival::closed) ::_exit(0);  // The start was cancelled, or the supervisor is gone.
    if (arrival != Arrival::message) continue;
    const auto* go = std::get_if<control::Go>(&arrived.message);
    if (go == nullptr) continue;
    // After this order of calls, whoever dies in between is noticed: by the signal, or by the other parent.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != go->supervisor) ::_exit(125);
    return;
  }
}

ReplicaSeat become_replica(const control::ForkGroup& group, const control::ForkReplica& wanted, Arrived& arrived,
                           const ForkHooks& hooks) {
  ::setpgid(0, 0);
  place_standard_streams(arrived.descriptors);
  forget_end_of_input();
  ReplicaSeat seat{group.attempt, wanted.rank, wanted.local_rank,
                   ControlSocket(std::move(arrived.descriptors[control_socket]))};
  arrived.descriptors.clear();
  bind_to(wanted.cpus);
  prefer_as_oom_victim();
  for (const std::string& name : group.unset) ::unsetenv(name.c_str());
  ::unsetenv("FORKLIFT_TEMPLATE");
  apply(group.set);
  apply(wanted.set);
  const std::string number = std::to_string(seat.control.get());
  ::setenv("FORKLIFT_CONTROL_FD", number.c_str(), 1);
  if (!seat.control.send(control::Hello{group.attempt, wanted.rank})) ::_exit(0);
  wait_for_go(seat.control);
  if (wanted.foreground == control::Foreground::yes) take_terminal();
  if (hooks.environment) {
    std::vector<EnvironmentVariable> set = group.set;
    set.insert(set.end(), wanted.set.begin(), wanted.set.end());
    set.push_back({"FORKLIFT_CONTROL_FD", number});
    std::vector<std::string> unset = group.unset;
    unset.emplace_back("FORKLIFT_TEMPLATE");
    hooks.environment(set, unset);
  }
  return seat;
}

/// Says on the socket of a replica that it will not be. Where not even that has come, its other end sees it closed.
void refuse(Arrived& request, int error) {
  if (request.descriptors.empty()) return;
  const ControlSocket own(std::move(request.descriptors[control_socket]));
  std::ignore = own.send(control::ForkFailed{error});
}

/// The middle process. Returns a seat in each replica; the middle itself exits.
ReplicaSeat fork_group(ControlSocket& requests, const control::ForkGroup& group, const ForkHooks& hooks) {
  Arrived arrived;
  for (int forked = 0; forked < group.replicas; ++forked) {
    const Arrival arrival = requests.receive(arrived);
    if (arrival == Arrival::closed) ::_exit(0);
    const auto* wanted = std::get_if<control::ForkReplica>(&arrived.message);
    if (arrival != Arrival::message || wanted == nullptr || arrived.descriptors.size() != places) {
      refuse(arrived, EMFILE);
      continue;
    }
    const pid_t pid = fork_with(hooks);
    if (pid == 0) {
      requests.close();
      const control::ForkReplica mine = *wanted;
      return become_replica(group, mine, arrived, hooks);
    }
    if (pid < 0) refuse(arrived, errno);
  }
  ::_exit(0);
}

}  // namespace

ReplicaSeat serve_forks(ControlSocket control, const ForkHooks& hooks) {
  flush_everything();
  if (!control.send(control::Ready{names_of_other_threads()})) ::_exit(0);
  Arrived arrived;
  for (;;) {
    const Arrival arrival = control.receive(arrived);
    if (arrival == Arrival::closed) ::_exit(0);
    const auto* group = std::get_if<control::ForkGroup>(&arrived.message);
    if (arrival != Arrival::message || group == nullptr) continue;
    const pid_t self = ::getpid();
    const pid_t middle = fork_with(hooks);
    if (middle == 0) {
      // If the template is killed, whoever is half made must not fork on.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != self) ::_exit(0);
      const control::ForkGroup mine = *group;
      return fork_group(control, mine, hooks);
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
