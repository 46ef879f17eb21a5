#include "launcher/supervise/event_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launcher/supervise/clock.hpp"
#include "launcher/system/run_lock.hpp"

namespace forklift {

EventWriter::EventWriter(boost::asio::io_context& io, const std::string& run_directory)
    : io_(io), path_(run_directory + "/events.jsonl") {
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (file_.valid()) hold_run_lock(file_.get());
  if (!file_.valid()) problem_ = "cannot write " + path_ + ": " + std::strerror(errno);
}

void EventWriter::add(RunEvent event) {
  if (!problem_.empty()) return;
  event.sequence = sequence_++;
  event.mono_ns = RunClock::monotonic_ns();
  event.wall = RunClock::wall();
  if (pending_.empty()) boost::asio::post(io_, [this] { flush(); });
  pending_ += event_line(event);
}

void EventWriter::flush() {
  std::size_t done = 0;
  while (done < pending_.size()) {
    const auto written = ::write(file_.get(), pending_.data() + done, pending_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      problem_ = "cannot write " + path_ + ": " + std::strerror(errno) + "; later events are missing there";
      break;  // The file stays open: its lock says that the run goes on.
    }
    done += static_cast<std::size_t>(written);
  }
  pending_.clear();
}

}  // namespace forklift
