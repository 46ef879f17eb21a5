#include "launcher/supervise/replica_stream.hpp"

#include <tuple>
#include <utility>

namespace forklift {

ReplicaStream::ReplicaStream(boost::asio::io_context& io, PipedStream piped, std::string shown_prefix,
                             ProgressStyle style)
    : rank_(piped.rank),
      stream_(piped.stream),
      route_(piped.route),
      pipe_(io),
      prefixer_(std::move(shown_prefix), style) {
  if (piped.copy.valid()) copy_ = LogCopy(std::move(piped.copy), std::move(piped.copy_path));
}

boost::system::error_code ReplicaStream::open(Descriptor pipe) {
  boost::system::error_code error;
  pipe_.assign(pipe.get(), error);
  if (error) return error;
  std::ignore = pipe.release();
  pipe_.non_blocking(true, error);
  if (error) close();
  return error;
}

void ReplicaStream::absorb(std::string_view bytes, std::string& lines) {
  tail_.feed(bytes);
  copy_.write(bytes);
  if (is_shown()) prefixer_.feed(bytes, lines);
}

void ReplicaStream::close() {
  boost::system::error_code ignored;
  pipe_.close(ignored);
  copy_.close();
}

}  // namespace forklift
