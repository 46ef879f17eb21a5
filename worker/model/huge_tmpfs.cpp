#include "worker/model/huge_tmpfs.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace forklift::weights {
namespace {

// System calls themselves: glibc has wrappers since 2.36 only.
int set_option(const Descriptor& context, const char* key, const std::string& value) {
  return static_cast<int>(::syscall(SYS_fsconfig, context.get(), FSCONFIG_SET_STRING, key, value.c_str(), 0));
}

Error refused(const char* step) {
  const int failed = errno;
  return {ErrorKind::system,
          fmt::format("no huge pages for the model: {}: {} (they need CAP_SYS_ADMIN and Linux 5.2)", step,
                      std::strerror(failed)),
          failed};
}

}  // namespace

Result<Descriptor> make_huge_file(std::uint64_t length) {
  constexpr std::uint64_t huge_page = std::uint64_t{2} << 20U;
  const std::uint64_t size = (length / huge_page + 2) * huge_page;
  const Descriptor context(static_cast<int>(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC)));
  if (!context.valid()) return refused("fsopen");
  if (set_option(context, "huge", "always") != 0) return refused("tmpfs with huge=always");
  if (set_option(context, "size", std::to_string(size)) != 0) return refused("tmpfs of that size");
  if (::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return refused("fsconfig");
  const Descriptor mount(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  if (!mount.valid()) return refused("fsmount");
  Descriptor file(::openat(mount.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid()) return refused("O_TMPFILE");
  return file;
}

}  // namespace forklift::weights
