// Reads what the replicas of an attempt print: prefixed lines to the console, exact copies to files, tails for the
// report.
//
// One thread, one io_context; one read buffer for all. Nothing wakes while nothing is printed. A console whose reader
// is slow never costs a line: streams that go only there are not read for a while, so that their replicas wait; streams
// with a copy in a file are read on, and when too much waits for the console their lines are left out there, with a
// note that names the file.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "forklift/ids.hpp"
#include "launcher/output/output_stream.hpp"
#include "launcher/supervise/console.hpp"
#include "launcher/supervise/replica_stream.hpp"

namespace forklift {

class ReplicaOutput {
 public:
  /// So much may wait for a slow reader before lines that are in a file as well are left out.
  static constexpr std::size_t copied_lines_queue = std::size_t{4} << 20;

  /// `console` must outlive it.
  ReplicaOutput(boost::asio::io_context& io, Console& console);
  ReplicaOutput(const ReplicaOutput&) = delete;
  ReplicaOutput& operator=(const ReplicaOutput&) = delete;
  ~ReplicaOutput();

  /// Takes over a stream and reads it from now on. It closes itself at its end. A stream that cannot be watched is
  /// closed and noted.
  void add(PipedStream piped);

  /// The last bytes of a stream, also after its end; empty for one that was never added.
  [[nodiscard]] std::string tail(Rank rank, OutputStream stream) const;

  /// Reads all that the pipes hold now, whatever the console says, and ends unfinished lines. For the moment at which
  /// all writers are gone; from one that is still there no more than a pipe's content is taken.
  void drain();

  /// Whether every stream has ended.
  [[nodiscard]] bool all_closed() const { return open_streams_ == 0; }

  /// Closes what is open and forgets all streams, their tails too: for the next attempt.
  void close_all();

  /// What a user should know: copies that are not complete, streams that could not be read. One sentence each.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  using Key = std::pair<Rank, OutputStream>;
  using Stream = std::shared_ptr<ReplicaStream>;
  enum class PipeState { filled_buffer, filled_part, empty, ended };

  void wait(const Stream& stream);
  void readable(const Stream& stream);
  void resume();
  [[nodiscard]] bool must_wait_for_console(const ReplicaStream& stream) const;

  PipeState read(ReplicaStream& stream);
  void deliver(ReplicaStream& stream);
  void end_line(ReplicaStream& stream);
  void close(ReplicaStream& stream);
  void tell_not_shown(ReplicaStream& stream);
  void note_failed_copy(const LogCopy& copy);

  boost::asio::io_context& io_;
  Console& console_;
  std::map<Key, Stream> streams_;
  std::vector<Stream> held_back_;  ///< Not read until the console accepts again.
  std::size_t open_streams_ = 0;
  std::vector<char> buffer_;  ///< What one read() gives.
  std::string lines_;         ///< What one turn of one stream prints.

  /// Copies that failed with the same error are one note: a full disk fails them all.
  struct FailedCopies {
    std::string first_path;
    std::size_t count = 0;
  };
  std::map<int, FailedCopies> failed_copies_;  ///< By errno.
  std::vector<std::string> unreadable_;
};

}  // namespace forklift
