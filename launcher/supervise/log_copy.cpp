#include "launcher/supervise/log_copy.hpp"

#include <unistd.h>

#include <cerrno>

namespace forklift {

void LogCopy::write(std::string_view bytes) {
  while (file_.valid() && !bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (first_errno_ == 0) first_errno_ = errno;
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace forklift
