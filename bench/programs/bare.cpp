// The limits: the least that any launcher must do, and nothing beside it.
//   bench_bare start N PROGRAM [ARGUMENT...]   vfork+exec N times, then wait for all
//   bench_bare crash N PROGRAM [ARGUMENT...]   the same with RANK set; when the first has ended, SIGTERM to the others
//   bench_bare cat N PROGRAM [ARGUMENT...]     each one's standard output through a pipe and `cat` to our own
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

constexpr int usage = 2;
constexpr int broken = 3;

struct Streams {
  int input = STDIN_FILENO;
  int output = STDOUT_FILENO;
};

pid_t start(char* const* argv, Streams streams = {}) {
  const pid_t pid = ::vfork();
  if (pid == 0) {
    ::dup2(streams.input, STDIN_FILENO);
    ::dup2(streams.output, STDOUT_FILENO);
    ::execv(argv[0], argv);
    ::_exit(broken);
  }
  if (pid < 0) ::_exit(broken);
  return pid;
}

/// Waits for every child. Whether all of them exited 0.
bool reap_all() {
  bool succeeded = true;
  int status = 0;
  while (::wait(&status) > 0) succeeded = succeeded && status == 0;
  return succeeded;
}

int start_and_wait(int count, char* const* argv) {
  for (int i = 0; i < count; ++i) start(argv);
  return reap_all() ? 0 : broken;
}

/// The first of `watched` that has ended.
std::size_t first_ended(std::vector<pollfd>& watched) {
  while (::poll(watched.data(), watched.size(), -1) <= 0) {
  }
  std::size_t ended = 0;
  while (watched[ended].revents == 0) ++ended;
  return ended;
}

int crash_and_stop(int count, char* const* argv) {
  std::vector<pid_t> replicas;
  std::vector<pollfd> watched;
  for (int rank = 0; rank < count; ++rank) {
    char text[16];
    std::snprintf(text, sizeof text, "%d", rank);
    ::setenv("RANK", text, 1);
    replicas.push_back(start(argv));
    watched.push_back({static_cast<int>(::syscall(SYS_pidfd_open, replicas.back(), 0)), POLLIN, 0});
  }
  const std::size_t crashed = first_ended(watched);
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (i != crashed) ::kill(replicas[i], SIGTERM);
  }
  return reap_all() ? broken : 0;
}

int through_cat(int count, char* const* argv) {
  char cat[] = "/bin/cat";
  char* const cat_argv[] = {cat, nullptr};
  for (int i = 0; i < count; ++i) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return broken;
    start(cat_argv, {.input = ends[0], .output = STDOUT_FILENO});
    start(argv, {.input = STDIN_FILENO, .output = ends[1]});
    ::close(ends[0]);
    ::close(ends[1]);
  }
  return reap_all() ? 0 : broken;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return usage;
  const std::string_view verb = argv[1];
  const int count = std::atoi(argv[2]);
  if (verb == "start") return start_and_wait(count, argv + 3);
  if (verb == "crash") return crash_and_stop(count, argv + 3);
  if (verb == "cat") return through_cat(count, argv + 3);
  return usage;
}
