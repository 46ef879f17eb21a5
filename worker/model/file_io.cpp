#include "worker/model/file_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "worker/format/quoted.hpp"

namespace forklift::weights {
namespace {

/// `step` transfers some bytes at a position; until `length` of them, an error, or a 0.
template <class Step>
Transferred repeat(std::size_t length, Step step) noexcept {
  Transferred done;
  while (done.bytes < length) {
    const ssize_t count = step(done.bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) done.os_errno = errno;
    if (count <= 0) break;
    done.bytes += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace

Transferred read_at(int descriptor, void* to, std::size_t length, std::uint64_t offset) noexcept {
  return repeat(length, [&](std::size_t done) {
    return ::pread(descriptor, static_cast<char*>(to) + done, length - done, static_cast<off_t>(offset + done));
  });
}

Transferred write_at(int descriptor, const void* from, std::size_t length, std::uint64_t offset) noexcept {
  return repeat(length, [&](std::size_t done) {
    return ::pwrite(descriptor, static_cast<const char*>(from) + done, length - done,
                    static_cast<off_t>(offset + done));
  });
}

Error system_error(const std::string& what, int os_errno) {
  return {ErrorKind::system, "cannot " + what + ": " + std::strerror(os_errno), os_errno};
}

Result<PartIdentity> identity_of(int descriptor, PartKind kind) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return system_error("look at descriptor " + std::to_string(descriptor) + " of the model", errno);
  }
  PartIdentity identity;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  identity.length = static_cast<std::uint64_t>(status.st_size);
  if (kind == PartKind::file) {
    identity.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  }
  return identity;
}

Result<Descriptor> reopen_read_only(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  Descriptor again(::open(link.c_str(), O_RDONLY | O_CLOEXEC));
  if (!again.valid()) return system_error("reopen a copy of the model for reading", errno);
  return again;
}

Result<std::string> read_whole(int descriptor, std::uint64_t length, const std::string& path) {
  std::string bytes(length, '\0');
  const Transferred read = read_at(descriptor, bytes.data(), bytes.size(), 0);
  if (read.os_errno != 0) return system_error("read " + in_quotes(path), read.os_errno);
  if (read.bytes < length) return Error{ErrorKind::system, in_quotes(path) + " became shorter while it was read"};
  return bytes;
}

}  // namespace forklift::weights
