#include "launcher/supervise/writable_watch.hpp"

#include <sys/epoll.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <tuple>

#include "worker/descriptor.hpp"

namespace forklift {
namespace {

int make_set() {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) throw boost::system::system_error(errno, boost::system::system_category(), "epoll_create1");
  return set;
}

}  // namespace

WritableWatch::WritableWatch(boost::asio::io_context& io, int watched) : set_(io), watched_(watched) {
  Descriptor set(make_set());
  set_.assign(set.get());
  std::ignore = set.release();
}

void WritableWatch::arm() {
  epoll_event room{};
  room.events = EPOLLOUT | EPOLLONESHOT;
  const int set = set_.native_handle();
  if (::epoll_ctl(set, EPOLL_CTL_MOD, watched_, &room) == 0) return;
  // Added only now, by the first wait: even with no event asked for, a hang-up would wake the loop.
  ::epoll_ctl(set, EPOLL_CTL_ADD, watched_, &room);
}

void WritableWatch::disarm() {
  // One-shot: taking the event out of the set disables it.
  epoll_event taken{};
  ::epoll_wait(set_.native_handle(), &taken, 1, 0);
}

}  // namespace forklift
