// Files that are there whole or not at all.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "launcher/system/run_directory.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

/// errno, or 0.
int write_whole(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) content.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

int write_new(const std::string& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file.valid()) return errno;
  if (const int failed = write_whole(file.get(), content); failed != 0) return failed;
  return ::close(file.release()) == 0 ? 0 : errno;  // Network file systems say only here that the disk is full.
}

}  // namespace

Result<void> write_file(const std::filesystem::path& path, std::string_view content) {
  const std::string fresh = path.string() + "." + std::to_string(::getpid()) + ".tmp";
  int failed = write_new(fresh, content);
  if (failed == 0 && std::rename(fresh.c_str(), path.c_str()) != 0) failed = errno;
  if (failed == 0) return {};
  ::unlink(fresh.c_str());
  return Error{ErrorKind::system, "cannot write '" + path.string() + "': " + std::strerror(failed), failed};
}

}  // namespace forklift
