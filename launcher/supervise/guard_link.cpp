#include "launcher/supervise/guard_link.hpp"

#include <utility>

namespace forklift {

GuardLink::GuardLink(boost::asio::io_context& io, Descriptor socket, Callbacks callbacks)
    : socket_(io, socket.release()), callbacks_(std::move(callbacks)) {
  wait();
}

void GuardLink::send(GuardMessage message) {
  if (socket_.is_open()) send_message(socket_.native_handle(), message);
}

void GuardLink::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void GuardLink::wait() {
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) read_all();
  });
}

void GuardLink::read_all() {
  GuardMessage message;
  while (socket_.is_open()) {
    switch (receive_message(socket_.native_handle(), message)) {
      case Received::message:
        callbacks_.message(message);
        break;
      case Received::nothing:
        wait();
        return;
      case Received::closed:
        close();
        callbacks_.lost();
        return;
    }
  }
}

}  // namespace forklift
