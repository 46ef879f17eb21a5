#include "worker/model/populate.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace forklift::weights {
namespace {

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;  // Linux 5.14
#endif

// For older kernels: the kernel itself reads one byte of each page, which maps the page, and says EFAULT where a touch
// would have been a SIGBUS.
Populated read_every_page(std::byte* data, std::size_t size) noexcept {
  constexpr std::size_t pages_at_once = 512;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::array<iovec, pages_at_once> remote;
  std::array<char, pages_at_once> scrap;
  ::madvise(data, size, MADV_WILLNEED);
  for (std::size_t begin = 0; begin < size;) {
    std::size_t count = 0;
    for (; count < pages_at_once && begin < size; begin += page) remote[count++] = {data + begin, 1};
    const iovec local{scrap.data(), count};
    if (::process_vm_readv(::getpid(), &local, 1, remote.data(), count, 0) != static_cast<ssize_t>(count)) {
      return Populated::some;
    }
  }
  return Populated::all;
}

}  // namespace

Populated populate(std::byte* data, std::size_t size) noexcept {
  if (size == 0) return Populated::all;
  for (;;) {
    if (::madvise(data, size, MADV_POPULATE_READ) == 0) return Populated::all;
    if (errno == EINVAL) return read_every_page(data, size);
    if (errno != EINTR && errno != EAGAIN) return Populated::some;
  }
}

}  // namespace forklift::weights
