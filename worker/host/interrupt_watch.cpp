#include "worker/host/interrupt_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace forklift {
namespace {

std::atomic<int> pipe_of_handler{-1};

void note_interrupt(int) {
  const int error = errno;
  const char one = 1;
  [[maybe_unused]] const auto written = ::write(pipe_of_handler.load(), &one, 1);
  errno = error;
}

}  // namespace

InterruptWatch::InterruptWatch() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  reader_ = Descriptor(ends[0]);
  writer_ = Descriptor(ends[1]);
  pipe_of_handler = writer_.get();
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, nullptr, &before_);
  // Under nohup and in background jobs of a shell it is ignored, and stays so.
  if (before_.sa_handler != SIG_IGN) ::sigaction(SIGINT, &action, nullptr);
}

InterruptWatch::~InterruptWatch() {
  if (!reader_.valid()) return;
  ::sigaction(SIGINT, &before_, nullptr);
  pipe_of_handler = -1;
}

int InterruptWatch::take() const {
  char bytes[64];
  const ssize_t got = ::read(reader_.get(), bytes, sizeof bytes);
  return got > 0 ? static_cast<int>(got) : 0;
}

}  // namespace forklift
