#include "worker/child_setup.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace forklift {
namespace {

/// A step returns 0 or an errno.
using Step = int (*)(const ChildImage&) noexcept;

int errno_unless(bool succeeded) noexcept { return succeeded ? 0 : errno; }

// A group of its own, never a session: the launcher forwards signals, and the terminal keeps working.
int enter_process_group(const ChildImage&) noexcept { return errno_unless(::setpgid(0, 0) == 0); }

// The launcher may have died before prctl; then nobody would send us the death signal any more.
int die_with_launcher(const ChildImage& image) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  return ::getppid() == image.launcher ? 0 : ESRCH;
}

// All signals are blocked, so this does not stop us with SIGTTOU.
int take_terminal(const ChildImage& image) noexcept {
  if (image.foreground_of < 0) return 0;
  return errno_unless(::tcsetpgrp(image.foreground_of, ::getpid()) == 0);
}

int place_standard_streams(const ChildImage& image) noexcept {
  for (int target = 0; target < 3; ++target) {
    const int source = image.standard_streams[target];
    if (source != target && ::dup2(source, target) < 0) return errno;
  }
  return 0;
}

// Whatever else is open, ours or our starter's, ends at exec. (The system call itself: glibc 2.33 has no wrapper.)
int close_the_rest(const ChildImage& image) noexcept {
  if (::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return errno;
  for (std::size_t i = 0; i < image.inherited_count; ++i) {
    if (::fcntl(image.inherited[i], F_SETFD, 0) != 0) return errno;
  }
  return 0;
}

int bind_to_cpus(const ChildImage& image) noexcept {
  if (image.affinity == nullptr) return 0;
  return errno_unless(::sched_setaffinity(0, image.affinity_bytes, image.affinity) == 0);
}

int restore_limits(const ChildImage& image) noexcept {
  if (image.open_files == nullptr) return 0;
  return errno_unless(::setrlimit(RLIMIT_NOFILE, image.open_files) == 0);
}

int enter_directory(const ChildImage& image) noexcept {
  if (image.working_directory == nullptr) return 0;
  return errno_unless(::chdir(image.working_directory) == 0);
}

struct NamedStep {
  StartStep name;
  Step run;
};

constexpr NamedStep steps[] = {
    {StartStep::process_group, enter_process_group},
    {StartStep::parent_death, die_with_launcher},
    {StartStep::terminal, take_terminal},
    {StartStep::standard_streams, place_standard_streams},
    {StartStep::descriptors, close_the_rest},
    {StartStep::affinity, bind_to_cpus},
    {StartStep::resource_limit, restore_limits},
    {StartStep::working_directory, enter_directory},
};

}  // namespace

ChildFailure set_up_child(const ChildImage& image) noexcept {
  for (const NamedStep& step : steps) {
    if (const int error = step.run(image); error != 0) return {step.name, error};
  }
  return {};
}

void unblock_signals(const ChildImage& image) noexcept { ::sigprocmask(SIG_SETMASK, &image.signal_mask, nullptr); }

}  // namespace forklift
