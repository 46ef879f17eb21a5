// The supervisor's side of the socket to a host program: results and the end of the run go out, stop requests come in.
//
// Never blocks: what the host does not take yet waits here. One thread, one io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <functional>
#include <vector>

#include "worker/control_socket.hpp"

namespace forklift {

class HostLink {
 public:
  struct Callbacks {
    std::function<void(control::HostStop)> stop;
    std::function<void()> lost;  ///< Once.
  };

  /// Throws boost::system::system_error if the socket cannot be watched.
  HostLink(boost::asio::io_context& io, Descriptor socket, Callbacks callbacks);

  /// `descriptors` go with the message and are closed when it was taken.
  void send(control::Message message, std::vector<Descriptor> descriptors = {});
  /// Calls back once everything was taken, or will never be. At most one waits.
  void when_flushed(std::function<void()> then);
  /// No callback after this.
  void close();

 private:
  struct Waiting {
    control::Message message;
    std::vector<Descriptor> descriptors;
  };

  void wait_to_read();
  void read();
  void flush();
  void lose();

  ControlSocket socket_;
  boost::asio::posix::stream_descriptor watch_;  ///< Its own copy of the descriptor.
  Callbacks callbacks_;
  std::deque<Waiting> queue_;
  std::function<void()> flushed_;
};

}  // namespace forklift
