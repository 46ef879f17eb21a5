#include "worker/host/host_processes.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "forklift/version.hpp"
#include "worker/host/invisible_fork.hpp"

namespace forklift {
namespace {

constexpr int could_not_execute = 126;

Error refused(const char* what) { return {ErrorKind::system, std::string(what) + ": " + std::strerror(errno), errno}; }

Descriptor pidfd_of(pid_t pid) { return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

/// Words as execve wants them; they must outlive the call.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Only the standard streams and these survive an exec.
void keep_only(std::initializer_list<int> kept) {
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const int descriptor : kept) ::fcntl(descriptor, F_SETFD, 0);
}

[[noreturn]] void execute(const std::string& binary, const std::vector<std::string>& words) {
  ::execv(binary.c_str(), pointers_to(words).data());
  ::_exit(could_not_execute);
}

/// Everything that the processes share until each takes its part.
struct Ends {
  ControlSocket host, supervisor_of_host;
  ControlSocket forks, supervisor_of_template;
  Descriptor guard, supervisor_of_guard;
  Descriptor host_pidfd;
};

Result<Ends> open_ends() {
  auto host = ControlSocket::make_pair();
  if (!host) return host.error();
  auto forks = ControlSocket::make_pair();
  if (!forks) return forks.error();
  int guard[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, guard) != 0) {
    return refused("cannot make the guard's socket");
  }
  Ends ends{std::move(host.value().first),
            std::move(host.value().second),
            std::move(forks.value().first),
            std::move(forks.value().second),
            Descriptor(guard[0]),
            Descriptor(guard[1]),
            pidfd_of(::getpid())};
  if (!ends.host_pidfd.valid()) return refused("cannot watch this process (pidfd_open)");
  return ends;
}

/// In the supervisor's process. The template is its child, with the host's memory; it returns there.
HostProcesses become_supervisor(const HostProcessesPlan& plan, Ends ends, const sigset_t& mask) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t supervisor = ::getpid();
  const pid_t template_pid = ::fork();
  if (template_pid == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    ::setpgid(0, 0);
    // The order matters: whoever dies in between is noticed by the one or the other.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != supervisor) ::_exit(0);
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    HostProcesses born;
    born.self = HostProcesses::Self::in_template;
    born.forks = std::move(ends.forks);
    return born;  // All other ends close here.
  }
  if (template_pid < 0) {
    std::ignore = ends.supervisor_of_host.send(
        control::HostRefused{ErrorKind::system, std::string("cannot fork the template: ") + std::strerror(errno)});
    ::_exit(could_not_execute);
  }
  ::dup2(plan.supervisor_output, STDOUT_FILENO);
  ::dup2(plan.supervisor_error, STDERR_FILENO);
  const auto text = [](int number) { return std::to_string(number); };
  std::vector<std::string> words{"lift-supervisor",
                                 "hosted-supervisor",
                                 version,
                                 text(ends.supervisor_of_guard.get()),
                                 text(ends.supervisor_of_host.get()),
                                 text(template_pid),
                                 text(ends.supervisor_of_template.get())};
  words.insert(words.end(), plan.launch_words.begin(), plan.launch_words.end());
  keep_only({ends.supervisor_of_guard.get(), ends.supervisor_of_host.get(), ends.supervisor_of_template.get()});
  execute(plan.binary, words);
}

/// In the guard's process; returns in the template only.
HostProcesses become_guard(const HostProcessesPlan& plan, Ends ends, const sigset_t& mask) {
  ::setpgid(0, 0);  // Whoever kills the host's group must not hit us.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ends.host.close();
  const pid_t supervisor = ::fork();
  if (supervisor == 0) return become_supervisor(plan, std::move(ends), mask);
  if (supervisor < 0) {
    std::ignore = ends.supervisor_of_host.send(
        control::HostRefused{ErrorKind::system, std::string("cannot fork the supervisor: ") + std::strerror(errno)});
    ::_exit(could_not_execute);
  }
  const std::vector<std::string> words{"forklift",
                                       "hosted-guard",
                                       version,
                                       std::to_string(ends.guard.get()),
                                       std::to_string(supervisor),
                                       std::to_string(ends.host_pidfd.get())};
  keep_only({ends.guard.get(), ends.host_pidfd.get()});
  execute(plan.binary, words);
}

}  // namespace

Result<HostProcesses> fork_host_processes(const HostProcessesPlan& plan) {
  auto ends = open_ends();
  if (!ends) return ends.error();
  sigset_t all;
  sigset_t mask;
  sigfillset(&all);
  // Until they have executed, guard and supervisor have the host's handlers, which must not run in them.
  ::pthread_sigmask(SIG_SETMASK, &all, &mask);
  const pid_t guard = invisible_fork();
  if (guard == 0) return become_guard(plan, std::move(ends).value(), mask);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (guard < 0) {
    errno = error;
    return refused("cannot fork the guard");
  }
  HostProcesses processes;
  processes.supervisor = std::move(ends.value().host);
  processes.guard_pidfd = pidfd_of(guard);
  return processes;
}

}  // namespace forklift
