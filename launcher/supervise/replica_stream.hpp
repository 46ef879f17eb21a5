// One output stream of one replica: its pipe, and all that its bytes become. Passive: ReplicaOutput decides when it is
// read and where its lines go.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "forklift/ids.hpp"
#include "forklift/plan.hpp"
#include "launcher/output/line_prefixer.hpp"
#include "launcher/output/output_stream.hpp"
#include "launcher/output/tail.hpp"
#include "launcher/supervise/log_copy.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

/// A stream as its replica's starter hands it over.
struct PipedStream {
  Rank rank;
  OutputStream stream;
  Descriptor pipe;    ///< The read end; nobody else may hold it.
  StreamRoute route;  ///< console, console_and_file or kept_only: the others have no pipe.
  std::string prefix;
  Descriptor copy;        ///< For console_and_file: the log file, open for writing.
  std::string copy_path;  ///< Its path, for messages.
};

class ReplicaStream {
 public:
  ReplicaStream(boost::asio::io_context& io, PipedStream piped, std::string shown_prefix, ProgressStyle style);

  /// Starts watching the pipe. An error code if the loop cannot: the stream is closed then.
  boost::system::error_code open(Descriptor pipe);

  /// Bytes were read: into the tail, the copy and, as lines, to the end of `lines`.
  void absorb(std::string_view bytes, std::string& lines);
  /// The last line had no end: it gets one.
  void finish_line(std::string& lines) { prefixer_.finish(lines); }
  /// The tail stays.
  void close();

  [[nodiscard]] bool is_open() const { return pipe_.is_open(); }
  [[nodiscard]] bool is_shown() const { return route_ != StreamRoute::kept_only; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] OutputStream stream() const { return stream_; }
  [[nodiscard]] boost::asio::posix::stream_descriptor& pipe() { return pipe_; }
  [[nodiscard]] const LinePrefixer& prefixer() const { return prefixer_; }
  [[nodiscard]] const Tail& tail() const { return tail_; }
  [[nodiscard]] const LogCopy& copy() const { return copy_; }

  /// Bytes of lines that a slow console was spared, because the copy has them.
  std::uint64_t not_shown = 0;

 private:
  Rank rank_;
  OutputStream stream_;
  StreamRoute route_;
  boost::asio::posix::stream_descriptor pipe_;
  LinePrefixer prefixer_;
  Tail tail_;
  LogCopy copy_;
};

}  // namespace forklift
