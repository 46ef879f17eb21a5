// The console: our own standard output and standard error, which replicas' lines and our sentences go to.
//
// Never blocks and never waits: what a slow reader does not take is queued here. A reader that is gone
// is noted once, and the job goes on. If both descriptors are the same file, pipe or terminal (2>&1), they are one
// sink, so that lines keep the order in which they were written. SIGPIPE must be ignored by the process. One thread.
#pragma once

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/ids.hpp"
#include "forklift/request.hpp"
#include "launcher/output/line_prefixer.hpp"
#include "launcher/output/output_stream.hpp"
#include "launcher/supervise/console_channel.hpp"

namespace forklift {

struct ConsoleSettings {
  Colour colour = Colour::automatic;  ///< automatic: where the stream is a terminal.
  /// What a terminal does with progress text; anything else is always last_only.
  ProgressStyle terminal_progress = ProgressStyle::live;
  int standard_output = STDOUT_FILENO;  ///< Not owned; must outlive the console.
  int standard_error = STDERR_FILENO;
};

class Console {
 public:
  /// Throws boost::system::system_error if there is no descriptor left.
  Console(boost::asio::io_context& io, const ConsoleSettings& settings);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  [[nodiscard]] bool is_terminal(OutputStream stream) const { return channel(stream).is_terminal(); }
  [[nodiscard]] bool coloured(OutputStream stream) const;
  [[nodiscard]] ProgressStyle progress_style(OutputStream stream) const { return channel(stream).progress_style(); }

  /// Whole lines, each with its '\n'. Takes them all, whatever accepts() says: a caller that can wait should ask first.
  void write(OutputStream stream, std::string_view whole_lines) { channel(stream).write(whole_lines); }
  /// Transient text in the live area of a terminal, in the place of the last one of this replica's stream; empty:
  /// removes it. Ignored where progress_style() is last_only.
  void show_live(OutputStream stream, Rank rank, std::string text);

  /// False while more than 1 MiB waits for the reader.
  [[nodiscard]] bool accepts(OutputStream stream) const { return channel(stream).accepts(); }
  /// Bytes that wait for the reader.
  [[nodiscard]] std::size_t queued(OutputStream stream) const { return channel(stream).queued(); }
  /// Called from the loop each time that a stream accepts again. Replaces the last one; empty: nobody is told.
  void on_accepting(std::function<void()> handler) { accepting_ = std::move(handler); }

  /// Removes the live area and calls `handler`, from the loop, as soon as nothing waits for a reader: however long that
  /// takes. abandon() ends the waiting.
  void when_flushed(std::function<void()> handler);
  /// Drops what waits and all that is still written. Returns how many bytes were waiting.
  std::size_t abandon();

  /// What a user should know: a reader that is gone, a disk that is full. One sentence each.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  [[nodiscard]] ConsoleChannel& channel(OutputStream stream);
  [[nodiscard]] const ConsoleChannel& channel(OutputStream stream) const;
  [[nodiscard]] bool both_are_one() const { return output_ == error_; }
  void call_if_flushed();

  Colour colour_;
  std::function<void()> accepting_;
  std::vector<std::function<void()>> flushed_;
  std::shared_ptr<ConsoleChannel> output_;
  std::shared_ptr<ConsoleChannel> error_;  ///< The same one as output_ if both are one sink.
};

}  // namespace forklift
