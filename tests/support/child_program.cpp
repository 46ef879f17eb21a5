// The one child program of the system tests: `child_program VERB [ARGUMENT…]`. What it does is in the table at the end.
//
// Its habits serve tests without sleeps: a child that is to be waited for says `ready`; one that is to live, lives
// until its stdin closes or it is killed; one that is to resist a signal has it blocked before it says so.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/child_toolkit.hpp"

namespace {

using namespace forklift::child;

// ---- ends ----

int exit_with(const Arguments& arguments) { return static_cast<int>(number(arguments, 0)); }
int raise_signal(const Arguments& arguments) { die_of(signal_of(argument(arguments, 0))); }

int raise_without_core(const Arguments& arguments) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  die_of(signal_of(argument(arguments, 0)));
}

int crash_after_ready(const Arguments& arguments) {
  say("ready");
  wait_for_end_of_input();
  die_of(signal_of(argument(arguments, 0)));
}

// ---- what it was given ----

int print(const Arguments& arguments) {
  write_all(STDOUT_FILENO, argument(arguments, 0));
  if (arguments.size() > 1) write_all(STDERR_FILENO, arguments[1]);
  return 0;
}

int print_environment(const Arguments& names) {
  for (const std::string& name : names) {
    const char* const value = std::getenv(name.c_str());
    say(value != nullptr ? name + "=" + value : name + " is not set");
  }
  return 0;
}

int print_arguments(const Arguments& arguments) {
  for (const std::string& word : arguments) say(word);
  return 0;
}

// One line a descriptor, "3 /path/or/kind"; fcntl instead of a directory, which would be a descriptor of its own.
int print_descriptors(const Arguments&) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto highest = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65536));
  for (int descriptor = 0; descriptor < highest; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0) continue;
    char target[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
    say(std::to_string(descriptor) + " " + std::string(target, static_cast<std::size_t>(std::max<ssize_t>(length, 0))));
  }
  return 0;
}

int print_affinity(const Arguments&) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) fail("sched_getaffinity");
  std::string line;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) line += (line.empty() ? "" : ",") + std::to_string(cpu);
  }
  say(line);
  return 0;
}

int print_limits(const Arguments&) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  say("open_files " + std::to_string(files.rlim_cur) + " " + std::to_string(files.rlim_max));
  return 0;
}

int print_group(const Arguments&) {
  say("pid " + std::to_string(::getpid()) + " group " + std::to_string(::getpgrp()) + " session " +
      std::to_string(::getsid(0)) + " parent " + std::to_string(::getppid()));
  return 0;
}

int print_signals(const Arguments&) {
  sigset_t blocked;
  ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigismember(&blocked, signal) == 1) say("blocked " + std::to_string(signal));
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      say("ignored " + std::to_string(signal));
  }
  return 0;
}

int print_terminal(const Arguments&) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    say(::isatty(stream) == 1 ? "terminal" : "none");
  return 0;
}

int print_working_directory(const Arguments&) {
  char path[4096];
  say(::getcwd(path, sizeof path) != nullptr ? path : "?");
  return 0;
}

// ---- living on ----

int hold(const Arguments&) {
  wait_for_end_of_input();
  return 0;
}

int echo_input(const Arguments&) {
  char buffer[4096];
  for (ssize_t count; (count = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0;) {
    write_all(STDOUT_FILENO, {buffer, static_cast<std::size_t>(count)});
  }
  return 0;
}

int ready_then_hold(const Arguments&) {
  say("ready");
  pause_for_ever();
}

int block_then_hold(const Arguments& signals) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (const std::string& name : signals) ::sigaddset(&blocked, signal_of(name));
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  return ready_then_hold({});
}

volatile sig_atomic_t exit_status_on_term = 0;

int on_term_exit(const Arguments& arguments) {
  exit_status_on_term = static_cast<int>(number(arguments, 0));
  ::signal(SIGTERM, [](int) { std::_Exit(exit_status_on_term); });
  return ready_then_hold({});
}

// Prints each of the signals that it gets, until its input ends or one of them is INT, which ends it with 0.
int report_signals(const Arguments& signals) {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGINT);
  for (const std::string& name : signals) ::sigaddset(&awaited, signal_of(name));
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  say("ready");
  for (int signal = 0; signal != SIGINT;) {
    if (::sigwait(&awaited, &signal) == 0) say(std::string("got ") + ::sigabbrev_np(signal));
  }
  return 0;
}

int stop_self(const Arguments&) {
  say("ready");
  ::raise(SIGSTOP);
  say("continued");
  return 0;
}

int allocate(const Arguments& arguments) {
  std::vector<std::vector<char>> memory;
  for (long mebibytes = number(arguments, 0); mebibytes > 0; mebibytes -= 2) {
    memory.emplace_back(std::size_t{2} << 20U, 'x');
    if (arguments.size() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // A model from a slow disk.
  }
  say(memory.empty() || memory.back().back() == 'x' ? "ready" : "");  // Nobody may optimise the memory away.
  wait_for_end_of_input();
  return 0;
}

// The first thread ends, another goes on: /proc shows such a process as a zombie.
int outlive_first_thread(const Arguments&) {
  std::thread([] {
    say("ready");
    pause_for_ever();
  }).detach();
  ::pthread_exit(nullptr);
}

// ---- families ----

// Ends at once; its child keeps stdout and stderr open until stdin closes.
int grandchild_holds_pipe(const Arguments&) {
  if (fork_or_fail() == 0) {
    wait_for_end_of_input();
    std::_Exit(0);
  }
  say("ready");
  return 0;
}

int child_then_hold(const Arguments&) {
  if (fork_or_fail() == 0) pause_for_ever();
  return ready_then_hold({});
}

int child_in_own_session(const Arguments&) {
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) fail("pipe2");
  if (fork_or_fail() == 0) {
    ::setsid();
    write_all(told[1], "x");
    pause_for_ever();
  }
  char ready = 0;
  if (::read(told[0], &ready, 1) != 1) fail("the child did not start");
  return ready_then_hold({});
}

// What a daemon does to be nobody's child: two forks and a session of its own. Says ready when it has written its pid.
int daemonize(const Arguments& arguments) {
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) fail("pipe2");
  const pid_t middle = fork_or_fail();
  if (middle == 0) {
    ::setsid();
    if (fork_or_fail() > 0) std::_Exit(0);
    const std::string pid = std::to_string(::getpid());
    const int file = ::open(argument(arguments, 0).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    write_all(file, pid);
    ::close(file);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
    write_all(told[1], "x");
    pause_for_ever();
  }
  ::waitpid(middle, nullptr, 0);
  char ready = 0;
  if (::read(told[0], &ready, 1) != 1) fail("the daemon did not start");
  say("ready");
  const bool leave = arguments.size() > 1 && arguments[1] == "leave";
  if (leave) return 0;
  pause_for_ever();
}

// A tree of 2^DEPTH processes.
int tree(const Arguments& arguments) {
  bool first = true;
  for (long depth = number(arguments, 0); depth > 0; --depth) {
    if (fork_or_fail() == 0) first = false;
  }
  return first ? ready_then_hold({}) : (pause_for_ever(), 0);
}

// COUNT lines of processes, each of which forks its successor and dies: who looks sees only the dead. With `sessions`
// each of them leaves its parent's group as well. The last generation stays; there is one, because a storm that nobody
// ends would use up all pids of the machine.
int fork_storm(const Arguments& arguments) {
  constexpr int generations = 3000;
  const bool sessions = arguments.size() > 1 && arguments[1] == "sessions";
  for (long line = number(arguments, 0); line > 0; --line) {
    if (fork_or_fail() > 0) continue;
    ::setsid();
    for (int generation = 0; generation < generations;) {
      const pid_t successor = ::fork();
      if (successor > 0) std::_Exit(0);
      if (successor < 0) ::sched_yield();
      if (successor == 0 && sessions) ::setsid();
      if (successor == 0) ++generation;
    }
    pause_for_ever();
  }
  return ready_then_hold({});
}

// ---- output ----

int write_lines(const Arguments& arguments) {
  const long count = number(arguments, 0);
  const auto width = static_cast<std::size_t>(number(arguments, 1));
  std::string batch;
  for (long line = 0; line < count; ++line) {
    std::string text = std::to_string(line) + " ";
    text.resize(std::max(width, text.size()), static_cast<char>('a' + line % 26));
    batch += text + "\n";
    if (batch.size() < 32768 && line + 1 < count) continue;
    write_all(STDOUT_FILENO, batch);
    batch.clear();
  }
  return 0;
}

int progress(const Arguments& arguments) {
  const long count = number(arguments, 0);
  for (long step = 1; step <= count; ++step) {
    write_all(STDERR_FILENO, "\rstep " + std::to_string(step) + "/" + std::to_string(count));
  }
  write_all(STDERR_FILENO, "\n");
  return 0;
}

// Every byte value, in a fixed order that repeats after no power of two.
int garbage(const Arguments& arguments) {
  std::string bytes(static_cast<std::size_t>(number(arguments, 0)), '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24U);
  }
  write_all(STDOUT_FILENO, bytes);
  return 0;
}

int long_line(const Arguments& arguments) {
  write_all(STDOUT_FILENO, std::string(static_cast<std::size_t>(number(arguments, 0)), 'x') + "\n");
  return 0;
}

struct Verb {
  const char* name;
  int (*run)(const Arguments&);
};

constexpr Verb verbs[] = {
    {"exit", exit_with},                         // STATUS
    {"raise", raise_signal},                     // SIGNAL: dies of it, with a core where the machine writes one
    {"raise-without-core", raise_without_core},  // SIGNAL
    {"crash-after-ready", crash_after_ready},    // SIGNAL: when stdin closes
    {"print", print},                            // OUT [ERR]: exactly these bytes
    {"print-env", print_environment},            // NAME…
    {"print-args", print_arguments},             // WORD…
    {"print-fds", print_descriptors},            //
    {"print-affinity", print_affinity},          //
    {"print-limits", print_limits},              //
    {"print-group", print_group},                //
    {"print-signals", print_signals},            // blocked and ignored ones, by number
    {"print-terminal", print_terminal},          // for 0, 1, 2
    {"print-cwd", print_working_directory},      //
    {"hold", hold},                              // until stdin closes
    {"echo", echo_input},                        //
    {"ready-then-hold", ready_then_hold},        // until killed
    {"block", block_then_hold},                  // SIGNAL…: then as above
    {"on-term-exit", on_term_exit},              // STATUS
    {"report-signals", report_signals},          // SIGNAL…: until SIGINT
    {"stop-self", stop_self},                    // by SIGSTOP
    {"allocate", allocate},  // MEBIBYTES [slowly]: two at a time, slowly 100 a second; until stdin closes
    {"outlive-first-thread", outlive_first_thread},
    {"grandchild-holds-pipe", grandchild_holds_pipe},
    {"child-then-hold", child_then_hold},
    {"setsid-child", child_in_own_session},
    {"daemonize", daemonize},      // PIDFILE [leave]: the daemon stays, and so do we unless told to leave
    {"tree", tree},                // DEPTH
    {"fork-storm", fork_storm},    // COUNT [sessions]
    {"write-lines", write_lines},  // COUNT WIDTH
    {"progress", progress},        // COUNT: on stderr, by \r
    {"garbage", garbage},          // BYTES
    {"long-line", long_line},      // BYTES
};

}  // namespace

int main(int count, char** words) {
  if (count < 2) fail("a verb was expected");
  const auto* const verb = std::find_if(std::begin(verbs), std::end(verbs),
                                        [&](const Verb& one) { return std::strcmp(one.name, words[1]) == 0; });
  if (verb == std::end(verbs)) fail(std::string("unknown verb '") + words[1] + "'");
  return verb->run(Arguments(words + 2, words + count));
}
