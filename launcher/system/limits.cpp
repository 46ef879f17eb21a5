#include "launcher/system/limits.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace forklift {

rlimit raise_open_files_limit() {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit raised = before;
  raised.rlim_cur = raised.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &raised);
  return before;
}

void fill_standard_streams() {
  for (int descriptor = ::open("/dev/null", O_RDWR); descriptor >= 0; descriptor = ::open("/dev/null", O_RDWR)) {
    if (descriptor > STDERR_FILENO) {
      ::close(descriptor);
      return;
    }
  }
}

std::string explain_refusal(int os_errno) {
  switch (os_errno) {
    case EMFILE:
      return "the limit of open files per process was reached (ulimit -n)";
    case EAGAIN:
      return "the limit of processes was reached (ulimit -u, or pids.max of the container)";
    default:
      return std::strerror(os_errno);
  }
}

std::string own_hostname() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace forklift
