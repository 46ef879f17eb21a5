#include "tests/support/start_program.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace forklift::support {
namespace {

void require(bool succeeded, const char* what) {
  if (succeeded) return;
  std::perror(what);
  std::abort();
}

/// The program's ends of its streams, numbered above 2 (as ours are open).
struct ChildEnds {
  Descriptor input;
  Descriptor out;
  Descriptor err;
};

void add_pipe(Descriptor& reader, Descriptor& writer) {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  reader = Descriptor(ends[0]);
  writer = Descriptor(ends[1]);
}

void open_pipes(const Command& command, StartedProgram& ours, ChildEnds& child) {
  add_pipe(ours.out, child.out);
  add_pipe(ours.err, child.err);
  switch (command.input) {
    case Input::null_device:
      child.input = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      break;
    case Input::closed:
      break;
    case Input::pipe:
      add_pipe(child.input, ours.input);
      break;
  }
}

void open_terminal(StartedProgram& ours, ChildEnds& child) {
  int terminal = -1;
  int program_side = -1;
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 80;
  require(::openpty(&terminal, &program_side, nullptr, nullptr, &size) == 0, "openpty");
  ::fcntl(terminal, F_SETFD, FD_CLOEXEC);
  ::fcntl(program_side, F_SETFD, FD_CLOEXEC);
  ours.out = Descriptor(terminal);
  ours.input = Descriptor(::fcntl(terminal, F_DUPFD_CLOEXEC, 0));
  child.input = Descriptor(program_side);
  child.out = Descriptor(::fcntl(program_side, F_DUPFD_CLOEXEC, 3));
  child.err = Descriptor(::fcntl(program_side, F_DUPFD_CLOEXEC, 3));
}

std::vector<std::string> assignments(const Command& command) {
  std::map<std::string, std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const auto equals = text.find('=');
    if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const std::string& name : command.unset) all.erase(name);
  for (const auto& [name, value] : command.environment) all[name] = value;
  std::vector<std::string> texts;
  for (const auto& [name, value] : all) texts.push_back(name + "=" + value);
  return texts;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  ::_exit(127);
}

void place(const Descriptor& source, int target) {
  if (!source.valid()) {
    ::close(target);
  } else if (::dup2(source.get(), target) < 0) {
    give_up("dup2");
  }
}

void reset_signals(const std::vector<int>& ignored) {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  for (const int signal : ignored) ::signal(signal, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void become_user(uid_t user) {
  if (::setgroups(0, nullptr) != 0 || ::setgid(user) != 0 || ::setuid(user) != 0) give_up("setuid");
}

[[noreturn]] void become_program(const Command& command, const ChildEnds& ends, char* const* argv, char* const* envp) {
  reset_signals(command.ignored_signals);
  switch (command.streams) {
    case Streams::pipes:
      ::setpgid(0, 0);
      break;
    case Streams::terminal:
      ::setsid();
      if (::ioctl(ends.input.get(), TIOCSCTTY, 0) != 0) give_up("TIOCSCTTY");
      break;
  }
  place(ends.out, STDOUT_FILENO);
  place(ends.err, STDERR_FILENO);
  place(ends.input, STDIN_FILENO);
  if (!command.working_directory.empty() && ::chdir(command.working_directory.c_str()) != 0) give_up("chdir");
  if (command.user) become_user(*command.user);
  // Whatever the test program itself was started with.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvpe(argv[0], argv, envp);
  give_up(argv[0]);
}

}  // namespace

StartedProgram start_program(const Command& command) {
  StartedProgram ours;
  ChildEnds child;
  switch (command.streams) {
    case Streams::pipes:
      open_pipes(command, ours, child);
      break;
    case Streams::terminal:
      open_terminal(ours, child);
      break;
  }
  std::vector<std::string> words = command.argv;
  std::vector<std::string> variables = assignments(command);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(variables);
  ours.pid = ::fork();
  require(ours.pid >= 0, "fork");
  if (ours.pid == 0) become_program(command, child, argv.data(), envp.data());
  if (command.streams == Streams::pipes) ::setpgid(ours.pid, ours.pid);  // Whoever is first.
  return ours;
}

}  // namespace forklift::support
