// The supervisor's side of the channel to its guard: packets become callbacks, the end of the stream is the guard's
// end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "launcher/system/guard_channel.hpp"

namespace forklift {

class GuardLink {
 public:
  struct Callbacks {
    std::function<void(GuardMessage)> message;
    std::function<void()> lost;  ///< Once.
  };

  GuardLink(boost::asio::io_context& io, Descriptor socket, Callbacks callbacks);

  void send(GuardMessage message);
  /// No callback after this; lets the loop run out.
  void close();

 private:
  void wait();
  void read_all();

  boost::asio::posix::stream_descriptor socket_;
  Callbacks callbacks_;
};

}  // namespace forklift
