// Where the console's bytes go: one of our inherited descriptors, written to without ever waiting for its reader.
//
// The descriptor is shared with whoever started us, so O_NONBLOCK is never set on it: a pipe or a
// terminal is opened again for ourselves, a socket is written to with MSG_DONTWAIT, a regular file as it is, which
// keeps the offset shared with the other holders. What cannot be opened again gets small writes that poll() has
// promised to take. SIGPIPE must be ignored by the process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>

#include "worker/descriptor.hpp"

namespace forklift {

/// What tells two descriptors of the same file, pipe or terminal.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// How much was written, and why not all: 0 if it was all, EAGAIN if the reader takes no more now, else the failure.
struct SinkResult {
  std::size_t written = 0;
  int os_errno = 0;
};

class Sink {
 public:
  /// Never fails: writing to a descriptor that is closed gives EBADF. Does not own `inherited`, which must stay open.
  explicit Sink(int inherited);

  SinkResult write(std::string_view bytes) const;

  /// To be polled for POLLOUT after EAGAIN. Never to be made non-blocking: it may be the inherited one.
  [[nodiscard]] int descriptor() const { return own_.valid() ? own_.get() : inherited_; }
  [[nodiscard]] bool is_terminal() const { return kind_ == Kind::terminal; }
  [[nodiscard]] FileIdentity identity() const { return identity_; }

 private:
  enum class Kind { file, pipe, terminal, other_device, socket };

  [[nodiscard]] ssize_t write_once(std::string_view bytes) const;
  [[nodiscard]] ssize_t write_if_writable(std::string_view bytes) const;

  int inherited_;
  Kind kind_ = Kind::file;
  FileIdentity identity_;
  Descriptor own_;  ///< The same pipe or terminal, opened again and non-blocking; invalid if that was refused.
};

}  // namespace forklift
