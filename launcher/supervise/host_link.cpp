#include "launcher/supervise/host_link.hpp"

#include <fcntl.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <utility>

namespace forklift {
namespace {

using boost::asio::posix::stream_descriptor;

int copy_of(int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) throw boost::system::system_error(errno, boost::system::system_category(), "host socket");
  return copy;
}

}  // namespace

HostLink::HostLink(boost::asio::io_context& io, Descriptor socket, Callbacks callbacks)
    : socket_(std::move(socket)), watch_(io, copy_of(socket_.get())), callbacks_(std::move(callbacks)) {
  wait_to_read();
}

void HostLink::send(control::Message message, std::vector<Descriptor> descriptors) {
  if (!socket_.valid()) return;
  queue_.push_back({std::move(message), std::move(descriptors)});
  if (queue_.size() == 1) flush();
}

void HostLink::flush() {
  while (!queue_.empty()) {
    const Waiting& next = queue_.front();
    std::vector<int> numbers;
    for (const Descriptor& descriptor : next.descriptors) numbers.push_back(descriptor.get());
    const auto sent = socket_.send(next.message, numbers, ControlSocket::Mode::non_blocking);
    if (!sent && sent.error().os_errno == EAGAIN) {
      watch_.async_wait(stream_descriptor::wait_write, [this](const boost::system::error_code& error) {
        if (!error) flush();
      });
      return;
    }
    if (!sent) return lose();
    queue_.pop_front();
  }
  if (flushed_) std::exchange(flushed_, nullptr)();
}

void HostLink::when_flushed(std::function<void()> then) {
  if (queue_.empty()) return then();
  flushed_ = std::move(then);
}

void HostLink::wait_to_read() {
  watch_.async_wait(stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) read();
  });
}

void HostLink::read() {
  Arrived arrived;
  while (socket_.valid()) {
    switch (socket_.receive(arrived, ControlSocket::Mode::non_blocking)) {
      case Arrival::message:
        if (const auto* stop = std::get_if<control::HostStop>(&arrived.message)) callbacks_.stop(*stop);
        break;
      case Arrival::foreign:
        break;
      case Arrival::nothing:
        return wait_to_read();
      case Arrival::closed:
        return lose();
    }
  }
}

void HostLink::lose() {
  if (!socket_.valid()) return;
  close();
  queue_.clear();
  if (flushed_) return std::exchange(flushed_, nullptr)();
  callbacks_.lost();
}

void HostLink::close() {
  boost::system::error_code ignored;
  watch_.close(ignored);
  socket_.close();
}

}  // namespace forklift
