// What the verbs of child_program are made of. Whatever goes wrong in a child program ends it with a sentence.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace forklift::child {

using Arguments = std::vector<std::string>;

constexpr int wrong_usage = 64;

[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "child_program: %s\n", message.c_str());
  std::_Exit(wrong_usage);
}

inline std::string argument(const Arguments& arguments, std::size_t index) {
  if (index >= arguments.size()) fail("argument " + std::to_string(index + 1) + " is missing");
  return arguments[index];
}

inline long number(const Arguments& arguments, std::size_t index) { return std::stol(argument(arguments, index)); }

/// "TERM", "SIGTERM" or "15".
inline int signal_of(std::string name) {
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* const abbreviation = ::sigabbrev_np(signal);
    if (abbreviation != nullptr && name == abbreviation) return signal;
  }
  return std::stoi(name);
}

inline void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) std::_Exit(errno == EPIPE ? 1 : 2);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

inline void say(const std::string& line) { write_all(STDOUT_FILENO, line + "\n"); }

[[noreturn]] inline void pause_for_ever() {
  for (;;) ::pause();
}

inline void wait_for_end_of_input() {
  char buffer[256];
  for (ssize_t count = 1; count > 0 || (count < 0 && errno == EINTR);)
    count = ::read(STDIN_FILENO, buffer, sizeof buffer);
}

inline pid_t fork_or_fail() {
  const pid_t child = ::fork();
  if (child < 0) fail(std::string("fork: ") + std::strerror(errno));
  return child;
}

[[noreturn]] inline void die_of(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(signal);
  ::pause();
  std::_Exit(wrong_usage);
}

}  // namespace forklift::child
