#include "launcher/supervise/child_watch.hpp"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <utility>

namespace forklift {
namespace {

int open_signal_descriptor() {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGCHLD);
  const int descriptor = ::signalfd(-1, &only, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) throw boost::system::system_error(errno, boost::system::system_category(), "signalfd");
  return descriptor;
}

}  // namespace

ChildWatch::ChildWatch(boost::asio::io_context& io, std::function<void()> changed)
    : io_(io), signals_(io, open_signal_descriptor()), changed_(std::move(changed)) {
  wait();
}

void ChildWatch::close() {
  boost::system::error_code ignored;
  signals_.close(ignored);
}

void ChildWatch::wait() {
  signals_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) read_all();
  });
}

void ChildWatch::read_all() {
  signalfd_siginfo info{};
  while (::read(signals_.native_handle(), &info, sizeof info) > 0) {
  }
  // A replica's pidfd may be ready in the same turn and shall speak first: it knows the order of the deaths.
  boost::asio::post(io_, [this] {
    if (!signals_.is_open()) return;
    changed_();
    wait();
  });
}

}  // namespace forklift
