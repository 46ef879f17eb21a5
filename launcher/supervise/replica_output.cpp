#include "launcher/supervise/replica_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "launcher/output/prefix.hpp"

namespace forklift {
namespace {

constexpr std::size_t read_size = std::size_t{64} << 10;

/// One replica that prints without end gets so many reads before the others have their turn.
constexpr int reads_per_turn = 4;

/// 4 MiB: no pipe holds more, unless root enlarged it.
constexpr int reads_to_drain = 64;

/// A line buffer that grew beyond this (a very long line came) is given back.
constexpr std::size_t kept_line_buffer = std::size_t{1} << 20;

}  // namespace

ReplicaOutput::ReplicaOutput(boost::asio::io_context& io, Console& console)
    : io_(io), console_(console), buffer_(read_size) {
  console_.on_accepting([this] { resume(); });
}

ReplicaOutput::~ReplicaOutput() { console_.on_accepting({}); }

void ReplicaOutput::add(PipedStream piped) {
  const Key key{piped.rank, piped.stream};
  Descriptor pipe = std::move(piped.pipe);
  std::string prefix =
      console_.coloured(piped.stream) ? colour_prefix(piped.prefix, piped.rank) : std::move(piped.prefix);
  const ProgressStyle style = console_.progress_style(piped.stream);
  const auto stream = std::make_shared<ReplicaStream>(io_, std::move(piped), std::move(prefix), style);
  if (const auto error = stream->open(std::move(pipe))) {
    unreadable_.push_back(fmt::format("the {} of rank {} could not be read: {}", stream_name(key.second),
                                      key.first.value, error.message()));
    return;
  }
  Stream& place = streams_[key];
  if (place && place->is_open()) close(*place);
  place = stream;
  ++open_streams_;
  wait(stream);
}

// ---- reading ------------------------------------------------------------------------------------------------------

void ReplicaOutput::wait(const Stream& stream) {
  stream->pipe().async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [this, weak = std::weak_ptr(stream)](const boost::system::error_code& error) {
                              // The streams live in `this`: while one is there, so is the other.
                              if (const auto alive = weak.lock(); alive && !error && alive->is_open()) readable(alive);
                            });
}

void ReplicaOutput::readable(const Stream& stream) {
  if (must_wait_for_console(*stream)) {
    held_back_.push_back(stream);
    return;
  }
  PipeState state = PipeState::filled_buffer;
  for (int reads = 0; reads < reads_per_turn && state == PipeState::filled_buffer; ++reads) state = read(*stream);
  deliver(*stream);
  if (state == PipeState::ended) {
    close(*stream);
  } else {
    // After a read that did not fill the buffer the pipe is empty: no read is spent on finding that out.
    wait(stream);
  }
}

bool ReplicaOutput::must_wait_for_console(const ReplicaStream& stream) const {
  return stream.is_shown() && !stream.copy().intact() && !console_.accepts(stream.stream());
}

void ReplicaOutput::resume() {
  for (const Stream& stream : std::exchange(held_back_, {})) {
    if (stream->is_open()) wait(stream);
  }
  for (const auto& [key, stream] : streams_) {
    if (console_.accepts(key.second)) tell_not_shown(*stream);
  }
}

ReplicaOutput::PipeState ReplicaOutput::read(ReplicaStream& stream) {
  ssize_t count = 0;
  do {
    count = ::read(stream.pipe().native_handle(), buffer_.data(), buffer_.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) return PipeState::empty;
  if (count <= 0) return PipeState::ended;

  const bool was_intact = stream.copy().intact();
  stream.absorb({buffer_.data(), static_cast<std::size_t>(count)}, lines_);
  if (was_intact && !stream.copy().intact()) note_failed_copy(stream.copy());
  return static_cast<std::size_t>(count) == buffer_.size() ? PipeState::filled_buffer : PipeState::filled_part;
}

void ReplicaOutput::drain() {
  for (const auto& [key, stream] : streams_) {
    if (!stream->is_open()) continue;
    PipeState state = PipeState::filled_buffer;
    for (int reads = 0; reads < reads_to_drain && state != PipeState::empty && state != PipeState::ended; ++reads) {
      state = read(*stream);
      deliver(*stream);
    }
    if (state == PipeState::ended) {
      close(*stream);
    } else {
      end_line(*stream);
    }
  }
}

// ---- printing -----------------------------------------------------------------------------------------------------

/// Prints lines_ and empties it.
void ReplicaOutput::deliver(ReplicaStream& stream) {
  if (stream.not_shown > 0 && console_.accepts(stream.stream())) tell_not_shown(stream);
  const bool too_much_waits = console_.queued(stream.stream()) > copied_lines_queue;
  if (stream.copy().intact() && (stream.not_shown > 0 || too_much_waits)) {
    stream.not_shown += lines_.size();
  } else {
    console_.write(stream.stream(), lines_);
  }
  if (console_.progress_style(stream.stream()) == ProgressStyle::live) {
    console_.show_live(stream.stream(), stream.rank(), stream.prefixer().live_text());
  }
  lines_.clear();
  if (lines_.capacity() > kept_line_buffer) lines_.shrink_to_fit();
}

void ReplicaOutput::tell_not_shown(ReplicaStream& stream) {
  const std::uint64_t bytes = std::exchange(stream.not_shown, 0);
  if (bytes == 0) return;
  console_.write(stream.stream(), fmt::format("{}[{} bytes not shown: the reader is slow; they are in {}]\n",
                                              stream.prefixer().prefix(), bytes, stream.copy().path()));
}

void ReplicaOutput::end_line(ReplicaStream& stream) {
  stream.finish_line(lines_);
  deliver(stream);
}

void ReplicaOutput::close(ReplicaStream& stream) {
  end_line(stream);
  tell_not_shown(stream);
  stream.close();
  --open_streams_;
}

void ReplicaOutput::close_all() {
  for (const auto& [key, stream] : streams_) {
    if (stream->is_open()) close(*stream);
  }
  streams_.clear();
  held_back_.clear();
}

// ---- afterwards ---------------------------------------------------------------------------------------------------

std::string ReplicaOutput::tail(Rank rank, OutputStream stream) const {
  const auto found = streams_.find({rank, stream});
  return found == streams_.end() ? std::string() : found->second->tail().text();
}

void ReplicaOutput::note_failed_copy(const LogCopy& copy) {
  FailedCopies& failed = failed_copies_[copy.first_errno()];
  if (failed.count++ == 0) failed.first_path = copy.path();
}

std::vector<std::string> ReplicaOutput::notes() const {
  std::vector<std::string> notes = unreadable_;
  for (const auto& [os_errno, failed] : failed_copies_) {
    const std::string others = failed.count > 1 ? fmt::format(" (and {} more)", failed.count - 1) : "";
    notes.push_back(fmt::format("{}{}: {}; what the replica printed is not complete there", failed.first_path, others,
                                std::generic_category().message(os_errno)));
  }
  return notes;
}

}  // namespace forklift
