#include "bench/support/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace forklift::bench {
namespace {

/// The child's descriptors 0, 1, 2.
class Streams {
 public:
  Streams(const std::filesystem::path& output, int error) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() { ::posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string last_bytes(int file) {
  constexpr off_t shown = 2000;
  const off_t size = ::lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::min(size, shown)), '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), std::max<off_t>(size - shown, 0));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

RunningProgram::RunningProgram(Command command)
    : command_(std::move(command)), standard_error_(::memfd_create("stderr", MFD_CLOEXEC)) {
  std::vector<char*> argv;
  for (std::string& word : command_.argv) argv.push_back(word.data());
  argv.push_back(nullptr);
  const Streams streams(command_.standard_output, standard_error_.get());
  const int error = ::posix_spawn(&pid_, argv[0], streams.actions(), nullptr, argv.data(), environ);
  if (error != 0) {
    throw std::runtime_error("cannot start " + joined(command_.argv) + ": " + std::strerror(error));
  }
}

RunningProgram::~RunningProgram() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void RunningProgram::send(int signal) const { ::kill(pid_, signal); }

Clock::time_point RunningProgram::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  const Clock::time_point ended = Clock::now();
  pid_ = -1;
  if (shell_status(status) != command_.expected_status) complain(status);
  return ended;
}

void RunningProgram::check_still_running() {
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return;
  pid_ = -1;
  complain(status);
}

void RunningProgram::complain(int status) const {
  throw std::runtime_error(joined(command_.argv) + ": ended with status " + std::to_string(shell_status(status)) +
                           ", expected " + std::to_string(command_.expected_status) + "; its stderr ends with:\n" +
                           last_bytes(standard_error_.get()));
}

double seconds_of(const Command& command) {
  const Clock::time_point begun = Clock::now();
  RunningProgram program(command);
  return std::chrono::duration<double>(program.wait() - begun).count();
}

}  // namespace forklift::bench
