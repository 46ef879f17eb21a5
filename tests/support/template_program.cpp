// The program of the template tests: loads, reaches its fork point (or not), and then does what it is told.
//
//     template_program STEP…    steps before "fork" happen once, those after it in every replica
//
//   say TEXT            one line on stdout, with the rank after the fork
//   mutter TEXT         the same without an end of line
//   err TEXT            as it is, on stderr
//   print NAME          an environment variable, "NAME=value" or "NAME unset"
//   shared              an anonymous private page written before the fork: prints what is in it now
//   cpus                the CPUs that it may use
//   read                one line of standard input
//   fork                forklift::fork_point()
//   exit CODE           std::_Exit
//   raise SIGNAL        by number, as a crash would
//   fail-first RANK     this rank exits 9 in attempt 0
//   fail-unless FILE    exits 7 unless FILE exists, and makes it
//   ignore SIGNAL       by number, from now on
//   close FD            a descriptor of its own
//   files NUMBER        may have so many descriptors from now on
//   thread NAME         starts another thread, which waits for ever
//   beat STEP           a heartbeat
//   beat-first STEP     the same, in attempt 0 only
//   fail TYPE TEXT      report_failure, then exit 1
//   wait FILE           until FILE exists
//   touch FILE          makes FILE, with ".RANK" after the fork
//   append FILE         one line more in FILE
//   stop                waits for a signal, for ever
//   child               leaves a child behind that sleeps in a session of its own
//   orphan              the same, but its parent is gone
//   fork-twice          a second fork_point()
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forklift/worker.hpp"

namespace {

const forklift::Replica* self = nullptr;
int loads = 0;

std::string who() { return self == nullptr ? "once" : "rank " + std::to_string(self->rank()); }

void wait_for_file(const std::string& path) {
  const int watch = ::inotify_init1(IN_CLOEXEC);
  const auto folder = std::filesystem::path(path).parent_path();
  ::inotify_add_watch(watch, folder.c_str(), IN_CREATE | IN_MOVED_TO);
  while (!std::filesystem::exists(path)) {
    char events[4096];
    if (::read(watch, events, sizeof events) < 0 && errno != EINTR) std::_Exit(99);
  }
  ::close(watch);
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

void leave_a_child() {
  if (::fork() != 0) return;
  ::setsid();
  wait_for_ever();
}

void leave_an_orphan() {
  const pid_t parent = ::fork();
  if (parent == 0) {
    leave_a_child();
    ::_exit(0);
  }
  ::waitpid(parent, nullptr, 0);
}

void say_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof mask, &mask);
  std::string line;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) line += (line.empty() ? "" : ",") + std::to_string(cpu);
  }
  std::printf("%s: cpus %s\n", who().c_str(), line.c_str());
}

void say_input() {
  char line[256];
  const bool read = std::fgets(line, sizeof line, stdin) != nullptr;
  std::printf("%s: read %s", who().c_str(), read ? line : "nothing\n");
}

void start_thread(const std::string& name) {
  std::thread thread(wait_for_ever);
  ::pthread_setname_np(thread.native_handle(), name.c_str());
  thread.detach();
}

void fail_unless(const std::string& path) {
  const int made = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (made >= 0) std::_Exit(7);
}

void append_line(const std::string& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
  if (::write(file, "line\n", 5) != 5) std::_Exit(99);
  ::close(file);
}

void limit_files(const std::string& number) {
  const rlimit limit{std::stoull(number), std::stoull(number)};
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

using Arguments = std::vector<std::string>;
struct Step {
  std::size_t arguments;
  std::function<void(const Arguments&)> run;
};

const std::map<std::string, Step>& steps() {
  static const std::map<std::string, Step> all{
      {"say", {1, [](const Arguments& a) { std::printf("%s: %s\n", who().c_str(), a[0].c_str()); }}},
      {"mutter", {1, [](const Arguments& a) { std::printf("%s: %s", who().c_str(), a[0].c_str()); }}},
      {"err", {1, [](const Arguments& a) { std::fputs(a[0].c_str(), stderr); }}},
      {"cpus", {0, [](const Arguments&) { say_cpus(); }}},
      {"read", {0, [](const Arguments&) { say_input(); }}},
      {"fail-unless", {1, [](const Arguments& a) { fail_unless(a[0]); }}},
      {"ignore", {1, [](const Arguments& a) { ::signal(std::stoi(a[0]), SIG_IGN); }}},
      {"close", {1, [](const Arguments& a) { std::fflush(nullptr), ::close(std::stoi(a[0])); }}},
      {"files", {1, [](const Arguments& a) { limit_files(a[0]); }}},
      {"thread", {1, [](const Arguments& a) { start_thread(a[0]); }}},
      {"append", {1, [](const Arguments& a) { append_line(a[0]); }}},
      {"print",
       {1,
        [](const Arguments& a) {
          const char* value = std::getenv(a[0].c_str());
          std::printf("%s: %s%s%s\n", who().c_str(), a[0].c_str(), value == nullptr ? " unset" : "=",
                      value == nullptr ? "" : value);
        }}},
      {"shared", {0, [](const Arguments&) { std::printf("%s: loaded %d\n", who().c_str(), ++loads); }}},
      {"fork", {0, [](const Arguments&) { self = &forklift::fork_point(); }}},
      {"fork-twice", {0, [](const Arguments&) { self = &forklift::fork_point(); }}},
      {"exit", {1, [](const Arguments& a) { std::fflush(nullptr), std::_Exit(std::stoi(a[0])); }}},
      {"raise", {1, [](const Arguments& a) { ::raise(std::stoi(a[0])); }}},
      {"fail-first",
       {1,
        [](const Arguments& a) {
          if (self->attempt() == 0 && self->rank() == std::stoi(a[0])) std::fflush(nullptr), std::_Exit(9);
        }}},
      {"beat", {1, [](const Arguments& a) { self->heartbeat(std::stoll(a[0])); }}},
      {"beat-first",
       {1,
        [](const Arguments& a) {
          if (self->attempt() == 0) self->heartbeat(std::stoll(a[0]));
        }}},
      {"fail", {2, [](const Arguments& a) { self->report_failure(a[0], a[1]), std::_Exit(1); }}},
      {"wait", {1, [](const Arguments& a) { std::fflush(nullptr), wait_for_file(a[0]); }}},
      {"touch",
       {1,
        [](const Arguments& a) {
          const std::string path = self == nullptr ? a[0] : a[0] + "." + std::to_string(self->rank());
          ::close(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        }}},
      {"stop",
       {0,
        [](const Arguments&) {
          std::fflush(nullptr);
          wait_for_ever();
        }}},
      {"child", {0, [](const Arguments&) { std::fflush(nullptr), leave_a_child(); }}},
      {"orphan", {0, [](const Arguments&) { std::fflush(nullptr), leave_an_orphan(); }}},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments words(argv + 1, argv + argc);
  try {
    for (std::size_t at = 0; at < words.size();) {
      const auto found = steps().find(words[at++]);
      if (found == steps().end() || at + found->second.arguments > words.size()) return 98;
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
      at += found->second.arguments;
      found->second.run({begin, words.begin() + static_cast<std::ptrdiff_t>(at)});
    }
  } catch (const std::logic_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 97;
  }
}
