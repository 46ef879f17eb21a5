#include "launcher/system/new_process.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace forklift {
namespace {

/// Blocks every signal for its lifetime: a handler must not run in a child that shares our memory.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

NewProcess failed_to_clone(int error) {
  NewProcess process;
  process.failure = {StartStep::clone, error};
  return process;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

// Here the child's table is a copy, and holds the pipe for the failure beside what is wanted.
NewProcess clone_and_run(ChildBody body, void* context, int /*descriptors_below*/) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed_to_clone(errno);
  Descriptor failure_reader(ends[0]);
  Descriptor failure_writer(ends[1]);
  NewProcess process;
  process.pid = ::fork();
  if (process.pid < 0) return failed_to_clone(errno);
  if (process.pid == 0) {
    const ChildFailure failure = body(context);
    [[maybe_unused]] const auto told = ::write(failure_writer.get(), &failure, sizeof failure);
    ::_exit(127);
  }
  failure_writer.close();
  ssize_t got = 0;
  do {  // Ends with 0 bytes when exec closes the pipe.
    got = ::read(failure_reader.get(), &process.failure, sizeof process.failure);
  } while (got < 0 && errno == EINTR);
  if (got == 0) process.failure = {};
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
  if (pidfd < 0 && process.failure.os_errno == 0) {
    process.failure = {StartStep::clone, errno};
    ::kill(process.pid, SIGKILL);  // start_process reaps it
  }
  process.pidfd = Descriptor(pidfd);
  return process;
}

#else

/// The child's stack. One is enough: CLONE_VFORK holds us until the child is done with it.
class ChildStack {
 public:
  static constexpr std::size_t bytes = std::size_t{128} << 10;
  static constexpr std::size_t guard_bytes = std::size_t{4} << 10;

  ChildStack() {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    ::mprotect(memory, guard_bytes, PROT_NONE);
    memory_ = static_cast<char*>(memory);
  }
  ChildStack(const ChildStack&) = delete;
  ChildStack& operator=(const ChildStack&) = delete;
  ~ChildStack() {
    if (memory_ != nullptr) ::munmap(memory_, bytes);
  }
  [[nodiscard]] void* top() const { return memory_ == nullptr ? nullptr : memory_ + bytes; }

 private:
  char* memory_ = nullptr;
};

struct Start {
  ChildBody body;
  void* context;
  int descriptors_below;
  ChildFailure failure;  // written by the child
};

// The table is shared with the launcher until this call, which copies only the part below.
ChildFailure leave_shared_table(int descriptors_below) {
  const auto first = static_cast<unsigned>(descriptors_below);
  if (::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_UNSHARE) == 0) return {};
  return {StartStep::descriptors, errno};
}

int run_body(void* argument) {
  auto* start = static_cast<Start*>(argument);
  if (start->descriptors_below != all_descriptors) start->failure = leave_shared_table(start->descriptors_below);
  if (start->failure.os_errno == 0) start->failure = start->body(start->context);
  ::_exit(127);
}

NewProcess clone_and_run(ChildBody body, void* context, int descriptors_below) {
  static const ChildStack stack;
  if (stack.top() == nullptr) return failed_to_clone(ENOMEM);
  Start start{body, context, descriptors_below, {}};
  const int shared_table = descriptors_below == all_descriptors ? 0 : CLONE_FILES;
  const int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | shared_table;
  int pidfd = -1;
  NewProcess process;
  process.pid = ::clone(run_body, stack.top(), flags, &start, &pidfd);
  if (process.pid < 0) return failed_to_clone(errno);
  process.pidfd = Descriptor(pidfd);  // close-on-exec from birth
  // The compiler cannot know that another process wrote to `start`; clone() has taken its address, so it is read anew.
  process.failure = start.failure;
  return process;
}

#endif

}  // namespace

NewProcess start_process(ChildBody body, void* context, int descriptors_below) {
  const AllSignalsBlocked blocked;
  NewProcess process = clone_and_run(body, context, descriptors_below);
  if (process.failure.os_errno != 0 && process.pid > 0) {
    reap(process.pid);
    process.pid = -1;
    process.pidfd.close();
  }
  return process;
}

void end_unadopted(pid_t pid) {
  ::kill(pid, SIGKILL);
  reap(pid);
}

}  // namespace forklift
