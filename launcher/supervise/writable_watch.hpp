// Tells once when a descriptor can be written to again, without touching it.
//
// Asio would make the descriptor non-blocking, and with it the one of whoever shares it with us. So it is put into an
// epoll set of its own, and Asio waits for that set to become readable.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <utility>

namespace forklift {

class WritableWatch {
 public:
  /// Does not own `watched`; it must stay open. A file that is always writable may be given: its waits never end, and
  /// nobody needs them. Throws boost::system::system_error if there is no descriptor left.
  WritableWatch(boost::asio::io_context& io, int watched);

  /// Calls `handler(error_code)` from the loop when there is room, a hang-up or an error; with an error code when the
  /// watch was destroyed before. One wait at a time.
  template <class Handler>
  void async_wait(Handler handler) {
    arm();
    set_.async_wait(boost::asio::posix::stream_descriptor::wait_read, std::move(handler));
  }

  /// To be called by the handler. Without it the set would go on waking the loop.
  void disarm();

 private:
  void arm();

  boost::asio::posix::stream_descriptor set_;
  int watched_;
};

}  // namespace forklift
