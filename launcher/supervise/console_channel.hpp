// One sink of the console, with the bytes that wait for its reader and, on a terminal, the live area below the lines.
//
// One thread. Held by a shared_ptr, so that a handler that is still queued in the loop finds out that it is gone.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/output/byte_queue.hpp"
#include "launcher/output/line_prefixer.hpp"
#include "launcher/output/live_area.hpp"
#include "launcher/supervise/sink.hpp"
#include "launcher/supervise/writable_watch.hpp"

namespace forklift {

class ConsoleChannel : public std::enable_shared_from_this<ConsoleChannel> {
 public:
  /// So many bytes may wait before the channel counts as stuck; at half of it it accepts again.
  static constexpr std::size_t full_at = std::size_t{1} << 20;
  /// The live area is drawn at most so often.
  static constexpr std::chrono::milliseconds redraw_interval{100};

  /// Called from the loop, never from inside a call of the channel.
  struct Callbacks {
    std::function<void()> accepting;  ///< It was stuck and is not any more.
    std::function<void()> emptied;    ///< Nothing waits any more.
  };

  /// `name`: for the notes, "standard output". Throws boost::system::system_error if there is no descriptor left.
  ConsoleChannel(boost::asio::io_context& io, Sink sink, std::string name, ProgressStyle progress, Callbacks callbacks);

  /// Written at once as far as the reader takes it, queued beyond that, whatever accepts() says.
  void write(std::string_view whole_lines);
  void show_live(const LiveArea::Key& key, std::string text);
  void end_live();

  [[nodiscard]] bool is_terminal() const { return sink_.is_terminal(); }
  [[nodiscard]] ProgressStyle progress_style() const { return progress_; }
  [[nodiscard]] bool accepts() const { return flow_ != Flow::stuck; }
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }

  /// Calls `emptied` once nothing waits any more, also if that is so now.
  void announce_empty();
  /// Drops what waits and all that comes. Returns how many bytes were waiting.
  std::size_t abandon();

  /// What a user should know of this sink; empty if all is well.
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  enum class Flow { accepting, stuck, dropped };
  enum class Redraw { none, wanted, scheduled };
  enum class Waiting { no, yes };

  void push(std::string_view bytes);
  std::size_t send(std::string_view bytes);
  void wait_for_reader();
  void reader_took_some();
  void give_up(std::string note);
  void want_redraw();
  void redraw();
  void post(std::function<void()> Callbacks::*callback);
  [[nodiscard]] std::size_t rows_for_live_area() const;

  boost::asio::io_context& io_;
  Sink sink_;
  std::string name_;
  ProgressStyle progress_;
  Callbacks callbacks_;
  WritableWatch watch_;
  boost::asio::steady_timer redraw_timer_;

  ByteQueue queue_;
  Flow flow_ = Flow::accepting;
  Waiting waiting_ = Waiting::no;
  LiveArea live_;
  Redraw redraw_ = Redraw::none;
  std::chrono::steady_clock::time_point last_redraw_{};
  std::string note_;
};

}  // namespace forklift
