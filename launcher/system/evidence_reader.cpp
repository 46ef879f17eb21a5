#include "launcher/system/evidence_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "worker/cgroup.hpp"
#include "worker/descriptor.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

/// A regular file, opened to be read. A FIFO that a replica left in the place of a file must not block us.
Descriptor open_regular(const std::filesystem::path& path, struct stat& about) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.valid() && (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))) file.close();
  return file;
}

/// Up to `limit` bytes from `offset` on; less at the end of the file or at an error.
std::string read_range(int file, off_t offset, std::size_t limit) {
  std::string text(limit, '\0');
  std::size_t filled = 0;
  while (filled < limit) {
    const ssize_t count = ::pread(file, text.data() + filled, limit - filled, offset + static_cast<off_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

}  // namespace

std::optional<Cgroup> own_memory_cgroup() { return locate_cgroup(read_cgroup_tables(), "memory"); }

OomCounters read_oom_counters(const std::optional<Cgroup>& memory) {
  OomCounters counters;
  if (const auto text = read_kernel_file("/proc/vmstat")) counters.machine = number_of_key(*text, "oom_kill");
  if (memory) counters.cgroup = oom_kills(*memory);
  return counters;
}

std::optional<SharedMemoryFacts> read_shared_memory() {
  struct statvfs about {};
  if (::statvfs("/dev/shm", &about) != 0) return std::nullopt;
  return SharedMemoryFacts{about.f_blocks * about.f_frsize, about.f_bavail * about.f_frsize};
}

std::optional<std::uint64_t> read_memory_limit(const std::optional<Cgroup>& memory) {
  return memory ? memory_limit(*memory) : std::nullopt;
}

std::uint64_t read_memory_total() {
  struct sysinfo about {};
  return ::sysinfo(&about) == 0 ? std::uint64_t{about.totalram} * about.mem_unit : 0;
}

bool oom_kills_whole_group(const std::optional<Cgroup>& memory) { return memory && has_oom_group(*memory); }

std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  struct stat about {};
  const Descriptor file = open_regular(path, about);
  if (!file.valid()) return std::nullopt;
  auto text = read_range(file.get(), 0, std::min(limit, static_cast<std::size_t>(about.st_size)));
  if (text.empty()) return std::nullopt;
  return text;
}

std::set<std::string> list_directory(const std::filesystem::path& path) {
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    names.insert(entry->path().filename().string());
  }
  return names;
}

std::string read_file_tail(const std::filesystem::path& path, std::size_t limit) {
  struct stat about {};
  const Descriptor file = open_regular(path, about);
  if (!file.valid()) return {};
  const std::size_t length = std::min(limit, static_cast<std::size_t>(about.st_size));
  return read_range(file.get(), about.st_size - static_cast<off_t>(length), length);
}

}  // namespace forklift
