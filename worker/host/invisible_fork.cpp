#include "worker/host/invisible_fork.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace forklift {
namespace {

void reap(pid_t pid, int options) {
  while (::waitpid(pid, nullptr, options) < 0 && errno == EINTR) {
  }
}

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

// A sanitizer cannot follow a child that shares our memory: two plain forks, of which the host sees the first.
pid_t invisible_fork() {
  const AllSignalsBlocked blocked;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  const pid_t between = ::fork();
  if (between == 0) {
    const pid_t child = ::fork();
    ::close(ends[0]);
    if (child == 0) {
      ::close(ends[1]);
      return 0;
    }
    const int told[2] = {child, errno};
    [[maybe_unused]] const auto written = ::write(ends[1], told, sizeof told);
    ::_exit(0);
  }
  ::close(ends[1]);
  int told[2] = {-1, errno};
  if (between > 0) {
    reap(between, 0);
    if (::read(ends[0], told, sizeof told) != static_cast<ssize_t>(sizeof told)) told[0] = -1;
  }
  ::close(ends[0]);
  errno = told[1];
  return told[0];
}

#else

namespace {

/// What the process in between needs and leaves. It runs in our memory while we wait for its end.
struct Between {
  void* caller[5] = {};  ///< __builtin_setjmp: the caller's frame
  pid_t child = -1;
  int error = 0;
};

// On a stack of its own, as the calling thread otherwise: glibc's fork() takes the locks that this thread would take,
// which a bare clone would leave in whatever state other threads had them. Its child copies our memory, in which the
// frame of invisible_fork() stands as it was, and goes on there.
int fork_in_between(void* argument) {
  auto* between = static_cast<Between*>(argument);
  const pid_t child = ::fork();
  if (child == 0) __builtin_longjmp(between->caller, 1);
  between->child = child;
  between->error = errno;
  ::_exit(0);
}

}  // namespace

pid_t invisible_fork() {
  constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  const AllSignalsBlocked blocked;
  void* stack = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  // Not on the stack as a register variable: it is read after both returns.
  static Between between;
  between = Between{};
  if (__builtin_setjmp(between.caller) != 0) return 0;  // In the child; its copy of the little stack is left alone.
  // No exit signal: neither SIGCHLD nor wait(-1) knows of this child. CLONE_VFORK: we go on when it is gone.
  const pid_t pid = ::clone(fork_in_between, static_cast<char*>(stack) + stack_bytes, CLONE_VM | CLONE_VFORK, &between);
  const int clone_error = errno;
  if (pid > 0) reap(pid, __WALL);
  ::munmap(stack, stack_bytes);
  errno = pid < 0 ? clone_error : between.error;
  return pid < 0 ? -1 : between.child;
}

#endif

}  // namespace forklift
