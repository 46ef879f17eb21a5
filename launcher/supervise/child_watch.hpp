// SIGCHLD as an event of the loop: for strangers (orphans of the job that became our children) and for stopped
// replicas. The ends of replicas are seen through their pidfds.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

namespace forklift {

class ChildWatch {
 public:
  /// SIGCHLD must be blocked. `changed` is called after the pidfds of the same turn were handled; many signals may be
  /// one call.
  ChildWatch(boost::asio::io_context& io, std::function<void()> changed);

  void close();

 private:
  void wait();
  void read_all();

  boost::asio::io_context& io_;
  boost::asio::posix::stream_descriptor signals_;
  std::function<void()> changed_;
};

}  // namespace forklift
