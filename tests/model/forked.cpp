#include "tests/model/forked.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "worker/descriptor.hpp"

namespace forklift::support {
namespace {

void require(bool succeeded, const char* what) {
  if (succeeded) return;
  std::perror(what);
  std::abort();
}

struct Pipe {
  Pipe() {
    int ends[2];
    require(::pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
  }
  Descriptor reader;
  Descriptor writer;
};

[[noreturn]] void become_child(const std::function<int()>& body, const Pipe& out, const Pipe& err) {
  ::dup2(out.writer.get(), STDOUT_FILENO);
  ::dup2(err.writer.get(), STDERR_FILENO);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(SIGSEGV, SIG_DFL);
  ::signal(SIGBUS, SIG_DFL);
  ::_exit(body());
}

// What a child of these tests writes fits into a pipe.
std::string read_all(const Descriptor& reader) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t count; (count = ::read(reader.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

Ended in_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  Pipe out;
  Pipe err;
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) become_child(body, out, err);
  out.writer.close();
  err.writer.close();
  Ended ended;
  ended.out = read_all(out.reader);
  ended.err = read_all(err.reader);
  int status = 0;
  require(::waitpid(child, &status, 0) == child, "waitpid");
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

void deny_system_call(long number, int os_errno, long argument) {
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  const auto unless_equal = [](long value, std::uint8_t skip) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, skip, static_cast<std::uint32_t>(value)};
  };
  const auto answer = [](std::uint32_t verdict) { return sock_filter{BPF_RET | BPF_K, 0, 0, verdict}; };
  std::vector<sock_filter> program{load(offsetof(seccomp_data, nr)),
                                   unless_equal(number, static_cast<std::uint8_t>(argument < 0 ? 1 : 3))};
  if (argument >= 0) {
    program.push_back(load(offsetof(seccomp_data, args[2])));
    program.push_back(unless_equal(argument, 1));
  }
  program.push_back(answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(os_errno)));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  require(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
  require(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "PR_SET_SECCOMP");
}

}  // namespace forklift::support
