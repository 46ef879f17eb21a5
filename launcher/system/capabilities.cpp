// What this kernel, its configuration and its seccomp filter allow, found by trying.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "launcher/system/host_facts_reader.hpp"
#include "worker/cgroup.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

/// 0, or the errno of what was tried.
using Trial = int (*)();

std::string verdict(int error) {
  if (error == 0) return "yes";
  const char* const name = ::strerrorname_np(error);
  return "no: " + (name != nullptr ? std::string(name) : "errno " + std::to_string(error));
}

int try_pidfd() {
  const Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return pidfd.valid() ? 0 : errno;
}

int try_memfd() {
  const Descriptor memory(::memfd_create("forklift-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  return memory.valid() ? 0 : errno;
}

int try_subreaper() { return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 ? 0 : errno; }
int try_pid_namespace() { return ::unshare(CLONE_NEWPID) == 0 ? 0 : errno; }
int try_user_namespace() { return ::unshare(CLONE_NEWUSER) == 0 ? 0 : errno; }

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/// Tries in a child whatever would change this process.
int in_child(Trial trial) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) ::_exit(trial());  // Every errno of Linux fits into an exit status.
  return wait_for(child);
}

int try_clone_pidfd() {
  int pidfd = -1;
  // Without CLONE_VM and without a stack this is fork(), so the child returns here.
  const long child = ::syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr);
  if (child < 0) return errno;
  if (child == 0) ::_exit(0);
  const Descriptor owned(pidfd);
  const int waited = wait_for(static_cast<pid_t>(child));
  return owned.valid() ? waited : EINVAL;  // Before Linux 5.2 the flag was ignored.
}

// The file that ends a whole group at once exists in every group but the root one, which we could not leave.
int try_cgroup_kill() {
  const auto group = locate_cgroup(read_cgroup_tables(), unified_hierarchy);
  if (!group) return ENOENT;
  return ::access((group->levels.front() + "/cgroup.kill").c_str(), W_OK) == 0 ? 0 : errno;
}

}  // namespace

std::map<std::string, std::string> read_capabilities() {
  return {
      {"pidfd", verdict(try_pidfd())},
      {"clone_pidfd", verdict(try_clone_pidfd())},
      {"memfd", verdict(try_memfd())},
      {"subreaper", verdict(in_child(try_subreaper))},
      {"pid_namespace", verdict(in_child(try_pid_namespace))},
      {"user_namespace", verdict(in_child(try_user_namespace))},
      {"cgroup_kill", verdict(try_cgroup_kill())},
  };
}

}  // namespace forklift
