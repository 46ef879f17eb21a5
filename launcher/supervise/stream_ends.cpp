#include "launcher/supervise/stream_ends.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace forklift {
namespace {

FailedToStart failed_to_prepare(const std::string& subject) { return {StartStep::prepare, errno, subject}; }

std::optional<FailedToStart> open_one(const AttemptValues& attempt, const ReplicaPlan& replica, OutputStream stream,
                                      StreamEnds& ends) {
  const std::size_t i = index_of(stream);
  const StreamRoute route = route_of(replica, stream);
  if (route == StreamRoute::terminal) return std::nullopt;
  if (route == StreamRoute::file || route == StreamRoute::console_and_file) {
    const std::string path = log_path(attempt, replica, stream);
    const std::string folder = path.substr(0, path.rfind('/'));
    ::mkdir(folder.substr(0, folder.rfind('/')).c_str(), 0700);
    ::mkdir(folder.c_str(), 0700);
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!file.valid()) return failed_to_prepare(path);
    (route == StreamRoute::file ? ends.child_end[i] : ends.copy[i]) = std::move(file);
    if (route == StreamRoute::file) return std::nullopt;
  }
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return failed_to_prepare("output pipe");
  ends.our_end[i] = Descriptor(pipe[0]);
  ends.child_end[i] = Descriptor(pipe[1]);
  return std::nullopt;
}

}  // namespace

StreamRoute route_of(const ReplicaPlan& replica, OutputStream stream) {
  return stream == OutputStream::standard_output ? replica.standard_output : replica.standard_error;
}

std::string log_path(const AttemptValues& attempt, const ReplicaPlan& replica, OutputStream stream) {
  return fmt::format("{}/attempt_{}/{}/{}.log", attempt.run_directory, attempt.attempt.value, replica.rank.value,
                     stream == OutputStream::standard_output ? "stdout" : "stderr");
}

std::optional<FailedToStart> open_stream_ends(const AttemptValues& attempt, const ReplicaPlan& replica,
                                              StreamEnds& ends) {
  for (const OutputStream stream : both_streams) {
    if (auto failed = open_one(attempt, replica, stream, ends)) return failed;
  }
  return std::nullopt;
}

}  // namespace forklift
