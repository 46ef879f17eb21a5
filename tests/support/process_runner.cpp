#include "tests/support/process_runner.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>

#include "tests/support/start_program.hpp"

namespace forklift::support {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Ended& ended) {
  if (ended.exit_code) stream << "exit code " << *ended.exit_code;
  if (ended.signal) stream << "killed by SIG" << ::sigabbrev_np(*ended.signal);
  if (!ended.exit_code && !ended.signal) stream << "still running";
  return stream << "\n--- stdout ---\n" << ended.out << "\n--- stderr ---\n" << ended.err;
}

RunningProcess::RunningProcess(const Command& command) {
  StartedProgram started = start_program(command);
  pid_ = started.pid;
  input_ = std::move(started.input);
  out_.descriptor = std::move(started.out);
  err_.descriptor = std::move(started.err);
  pidfd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
}

RunningProcess::~RunningProcess() {
  if (pid_ <= 0) return;
  send_to_group(SIGKILL);
  if (wait_status_) return;
  send(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void RunningProcess::write_input(std::string_view text) const {
  const auto handler = ::signal(SIGPIPE, SIG_IGN);  // The program may have closed its input.
  while (!text.empty()) {
    const ssize_t count = ::write(input_.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  ::signal(SIGPIPE, handler);
}

// By pidfd: the test may have let somebody else reap it, and its pid may be another's by now.
void RunningProcess::send(int signal) const { ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0); }
void RunningProcess::send_to_group(int signal) const { ::kill(-pid_, signal); }

void RunningProcess::read_available(Stream& stream) {
  char buffer[65536];
  const ssize_t count = ::read(stream.descriptor.get(), buffer, sizeof buffer);
  if (count > 0) {
    stream.text.append(buffer, static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    stream.descriptor.close();  // A terminal whose last user has gone gives EIO.
  }
}

void RunningProcess::reap_if_ended() {
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) wait_status_ = status;
}

bool RunningProcess::pump(const std::function<bool()>& done, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  while (!done()) {
    pollfd watched[] = {{out_.descriptor.get(), POLLIN, 0},
                        {err_.descriptor.get(), POLLIN, 0},
                        {wait_status_ ? -1 : pidfd_.get(), POLLIN, 0}};
    const int ready = ::poll(watched, std::size(watched), milliseconds_until(end));
    if (ready == 0) return done();
    if (ready < 0) continue;
    if (watched[0].revents != 0) read_available(out_);
    if (watched[1].revents != 0) read_available(err_);
    if (watched[2].revents != 0) reap_if_ended();
  }
  return true;
}

::testing::AssertionResult RunningProcess::wait_for(const Stream& stream, std::string_view text,
                                                    std::chrono::milliseconds deadline) {
  const auto contains = [&] { return stream.text.find(text) != std::string::npos; };
  pump([&] { return contains() || !stream.descriptor.valid(); }, deadline);
  if (contains()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' was not written: " << ended();
}

::testing::AssertionResult RunningProcess::wait_for_out(std::string_view text, std::chrono::milliseconds deadline) {
  return wait_for(out_, text, deadline);
}

::testing::AssertionResult RunningProcess::wait_for_err(std::string_view text, std::chrono::milliseconds deadline) {
  return wait_for(err_, text, deadline);
}

Ended RunningProcess::wait(std::chrono::milliseconds deadline) {
  const bool over =
      pump([&] { return wait_status_ && !out_.descriptor.valid() && !err_.descriptor.valid(); }, deadline);
  if (!over && wait_status_)
    ADD_FAILURE() << "it has ended, but somebody still holds its stdout or stderr: " << ended();
  if (!over && !wait_status_) ADD_FAILURE() << "it has not ended within " << deadline.count() << " ms: " << ended();
  return ended();
}

Ended RunningProcess::wait_for_exit(std::chrono::milliseconds deadline) {
  if (!pump([&] { return wait_status_.has_value(); }, deadline)) {
    ADD_FAILURE() << "it has not ended within " << deadline.count() << " ms: " << ended();
  }
  return ended();
}

Ended RunningProcess::ended() const {
  Ended result{std::nullopt, std::nullopt, out_.text, err_.text};
  if (wait_status_ && WIFEXITED(*wait_status_)) result.exit_code = WEXITSTATUS(*wait_status_);
  if (wait_status_ && WIFSIGNALED(*wait_status_)) result.signal = WTERMSIG(*wait_status_);
  return result;
}

Ended run(const Command& command, std::chrono::milliseconds deadline) { return RunningProcess(command).wait(deadline); }

}  // namespace forklift::support
