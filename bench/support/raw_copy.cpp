#include "bench/support/raw_copy.hpp"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <system_error>
#include <thread>

#include "bench/support/program.hpp"
#include "worker/descriptor.hpp"

namespace forklift::bench {
namespace {

constexpr std::uint64_t slice = std::uint64_t{16} << 20U;

void require(bool succeeded, const char* what) {
  if (!succeeded) throw std::system_error(errno, std::generic_category(), what);
}

Descriptor huge_file() {
  const Descriptor context(static_cast<int>(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC)));
  const auto configure = [&](unsigned command, const char* key, const char* value) {
    return ::syscall(SYS_fsconfig, context.get(), command, key, value, 0) == 0;
  };
  const bool made = context.valid() && configure(FSCONFIG_SET_STRING, "huge", "always") &&
                    configure(FSCONFIG_SET_STRING, "size", "100%") && configure(FSCONFIG_CMD_CREATE, nullptr, nullptr);
  if (!made) return {};
  const Descriptor mount(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  return Descriptor(::openat(mount.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

Descriptor fresh_memory(std::uint64_t length, Pages pages) {
  Descriptor memory =
      pages == Pages::huge ? huge_file() : Descriptor(::memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  require(memory.valid() && ::ftruncate(memory.get(), static_cast<off_t>(length)) == 0, "shared memory");
  return memory;
}

/// Calls `copy(offset, length)` for every slice, on several threads.
template <class Copy>
void in_slices(std::uint64_t length, const Copy& copy) {
  cpu_set_t usable;
  require(::sched_getaffinity(0, sizeof usable, &usable) == 0, "sched_getaffinity");
  std::atomic<std::uint64_t> next{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::min(CPU_COUNT(&usable), 4); ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t begin; (begin = next.fetch_add(slice)) < length;) copy(begin, std::min(slice, length - begin));
    });
  }
}

template <class Body>
double timed(const Body& body) {
  const Clock::time_point begun = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

double pread_into_mapping(int source, std::uint64_t length, Pages pages) {
  const Descriptor memory = fresh_memory(length, pages);
  return timed([&] {
    void* const mapped = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
    require(mapped != MAP_FAILED, "mmap");
    in_slices(length, [&](std::uint64_t at, std::uint64_t count) {
      while (count > 0) {
        const ssize_t read = ::pread(source, static_cast<char*>(mapped) + at, count, static_cast<off_t>(at));
        if (read <= 0) std::abort();
        at += static_cast<std::uint64_t>(read);
        count -= static_cast<std::uint64_t>(read);
      }
    });
    ::munmap(mapped, length);
  });
}

double pread_then_pwrite(int source, std::uint64_t length, Pages pages) {
  constexpr std::size_t buffer_bytes = std::size_t{256} << 10U;
  const Descriptor memory = fresh_memory(length, pages);
  return timed([&] {
    in_slices(length, [&](std::uint64_t at, std::uint64_t count) {
      const auto buffer = std::make_unique_for_overwrite<char[]>(buffer_bytes);
      while (count > 0) {
        const ssize_t read =
            ::pread(source, buffer.get(), std::min<std::uint64_t>(count, buffer_bytes), static_cast<off_t>(at));
        if (read <= 0 ||
            ::pwrite(memory.get(), buffer.get(), static_cast<std::size_t>(read), static_cast<off_t>(at)) != read)
          std::abort();
        at += static_cast<std::uint64_t>(read);
        count -= static_cast<std::uint64_t>(read);
      }
    });
  });
}

double sendfile_to_memory(int source, std::uint64_t length, Pages pages) {
  const Descriptor memory = fresh_memory(length, pages);
  const std::string link = "/proc/self/fd/" + std::to_string(memory.get());
  return timed([&] {
    in_slices(length, [&](std::uint64_t at, std::uint64_t count) {
      const Descriptor own(::open(link.c_str(), O_WRONLY | O_CLOEXEC));  // sendfile writes where the descriptor stands.
      auto from = static_cast<off_t>(at);
      if (::lseek(own.get(), from, SEEK_SET) < 0) std::abort();
      while (count > 0) {
        const ssize_t sent = ::sendfile(own.get(), source, &from, count);
        if (sent <= 0) std::abort();
        count -= static_cast<std::uint64_t>(sent);
      }
    });
  });
}

double pwrite_from_mapping(int source, std::uint64_t length, Pages pages) {
  const Descriptor memory = fresh_memory(length, pages);
  return timed([&] {
    void* const mapped = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, source, 0);
    require(mapped != MAP_FAILED, "mmap");
    in_slices(length, [&](std::uint64_t at, std::uint64_t count) {
      while (count > 0) {
        const ssize_t written = ::pwrite(memory.get(), static_cast<char*>(mapped) + at, count, static_cast<off_t>(at));
        if (written <= 0) std::abort();
        at += static_cast<std::uint64_t>(written);
        count -= static_cast<std::uint64_t>(written);
      }
    });
    ::munmap(mapped, length);
  });
}

}  // namespace

const std::vector<RawMethod>& raw_methods() {
  static const std::vector<RawMethod> all = {{"pread into a mapping", pread_into_mapping},
                                             {"pread, pwrite", pread_then_pwrite},
                                             {"pwrite from a mapping", pwrite_from_mapping},
                                             {"sendfile", sendfile_to_memory}};
  return all;
}

bool may_have_huge_pages() { return huge_file().valid(); }

}  // namespace forklift::bench
