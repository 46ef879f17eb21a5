#include "launcher/supervise/console_channel.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

namespace forklift {
namespace {

/// A fast reader of a long queue gets so much before the loop looks at everything else again.
constexpr std::size_t bytes_per_turn = std::size_t{256} << 10;

bool is_about_space(int os_errno) { return os_errno == ENOSPC || os_errno == EDQUOT || os_errno == EFBIG; }

}  // namespace

ConsoleChannel::ConsoleChannel(boost::asio::io_context& io, Sink sink, std::string name, ProgressStyle progress,
                               Callbacks callbacks)
    : io_(io),
      sink_(std::move(sink)),
      name_(std::move(name)),
      progress_(sink_.is_terminal() ? progress : ProgressStyle::last_only),
      callbacks_(std::move(callbacks)),
      watch_(io, sink_.descriptor()),
      redraw_timer_(io) {}

// ---- lines --------------------------------------------------------------------------------------------------------

void ConsoleChannel::write(std::string_view whole_lines) {
  if (flow_ == Flow::dropped || whole_lines.empty()) return;
  if (live_.drawn()) {
    push(live_.erase().append(whole_lines));
  } else {
    push(whole_lines);
  }
  if (!live_.empty()) want_redraw();
}

void ConsoleChannel::push(std::string_view bytes) {
  if (queue_.empty()) bytes.remove_prefix(send(bytes));
  if (flow_ == Flow::dropped || bytes.empty()) return;
  queue_.append(bytes);
  if (queue_.size() >= full_at) flow_ = Flow::stuck;
  wait_for_reader();
}

/// Returns how many bytes need no more care: written, or lost for a reason that is noted.
std::size_t ConsoleChannel::send(std::string_view bytes) {
  const SinkResult result = sink_.write(bytes);
  if (result.os_errno == 0 || result.os_errno == EAGAIN) return result.written;
  const std::string reason = std::generic_category().message(result.os_errno);
  if (is_about_space(result.os_errno)) {
    // Space may come back: only these bytes are lost.
    if (note_.empty()) note_ = fmt::format("{}: {}; some of what was printed is missing there", name_, reason);
  } else {
    give_up(fmt::format("{}: {}; what replicas print is not shown there any more", name_, reason));
  }
  return bytes.size();
}

void ConsoleChannel::wait_for_reader() {
  if (waiting_ == Waiting::yes) return;
  waiting_ = Waiting::yes;
  watch_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (error) return;
    if (const auto self = weak.lock()) self->reader_took_some();
  });
}

void ConsoleChannel::reader_took_some() {
  watch_.disarm();
  waiting_ = Waiting::no;
  const std::size_t sent = send(queue_.front().substr(0, bytes_per_turn));
  if (flow_ == Flow::dropped) return;
  queue_.take(sent);
  if (flow_ == Flow::stuck && queue_.size() <= full_at / 2) {
    flow_ = Flow::accepting;
    post(&Callbacks::accepting);
  }
  if (!queue_.empty()) return wait_for_reader();
  post(&Callbacks::emptied);
  if (redraw_ == Redraw::wanted) want_redraw();
}

void ConsoleChannel::announce_empty() {
  if (queue_.empty()) post(&Callbacks::emptied);
}

std::size_t ConsoleChannel::abandon() {
  const std::size_t waiting = queue_.size();
  if (flow_ != Flow::dropped) give_up(note_);
  return waiting;
}

void ConsoleChannel::give_up(std::string note) {
  note_ = std::move(note);
  const Flow before = std::exchange(flow_, Flow::dropped);
  queue_.clear();
  redraw_timer_.cancel();
  if (before == Flow::stuck) post(&Callbacks::accepting);
  post(&Callbacks::emptied);
}

void ConsoleChannel::post(std::function<void()> Callbacks::*callback) {
  boost::asio::post(io_, [weak = weak_from_this(), callback] {
    const auto self = weak.lock();
    if (self && self->callbacks_.*callback) (self->callbacks_.*callback)();
  });
}

// ---- live area ----------------------------------------------------------------------------------------------------

void ConsoleChannel::show_live(const LiveArea::Key& key, std::string text) {
  if (progress_ != ProgressStyle::live || flow_ == Flow::dropped) return;
  if (live_.set(key, std::move(text))) want_redraw();
}

void ConsoleChannel::end_live() {
  if (live_.drawn()) push(live_.erase());
  live_ = LiveArea();
  redraw_ = Redraw::none;
  redraw_timer_.cancel();
}

void ConsoleChannel::want_redraw() {
  if (redraw_ == Redraw::scheduled) return;
  redraw_ = Redraw::wanted;
  // A reader that lags behind is not given transient text as well; it is drawn when the queue is empty.
  if (!queue_.empty()) return;
  const auto due = last_redraw_ + redraw_interval;
  if (std::chrono::steady_clock::now() >= due) return redraw();
  redraw_ = Redraw::scheduled;
  redraw_timer_.expires_at(due);
  redraw_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (error) return;
    const auto self = weak.lock();
    if (self && self->redraw_ == Redraw::scheduled) self->redraw();
  });
}

void ConsoleChannel::redraw() {
  if (!queue_.empty()) {
    redraw_ = Redraw::wanted;
    return;
  }
  redraw_ = Redraw::none;
  last_redraw_ = std::chrono::steady_clock::now();
  push(live_.redraw(rows_for_live_area()));
}

/// Half of the terminal, so that the lines above stay in sight.
std::size_t ConsoleChannel::rows_for_live_area() const {
  constexpr std::size_t usual_rows = 24;
  winsize size{};
  const bool known = ::ioctl(sink_.descriptor(), TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return std::max<std::size_t>((known ? size.ws_row : usual_rows) / 2, 1);
}

}  // namespace forklift
