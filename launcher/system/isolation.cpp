#include "launcher/system/isolation.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "worker/descriptor.hpp"

namespace forklift {
namespace {

bool write_text(const char* path, const std::string& text) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return file.valid() && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string own_id_map(unsigned id) { return std::to_string(id) + " " + std::to_string(id) + " 1\n"; }

Error refused(const std::string& what, int error) {
  return Error{ErrorKind::system,
               "--isolate: this machine allows no pid namespace (" + what + ": " + std::strerror(error) +
                   "); run without --isolate, as root, or where user namespaces are allowed",
               error};
}

}  // namespace

Result<void> enter_new_pid_namespace() {
  if (::unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) return {};
  const int as_we_are = errno;
  if (as_we_are != EPERM) return refused("unshare", as_we_are);
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0)
    return refused("unshare with a user namespace", errno);
  write_text("/proc/self/setgroups", "deny");  // Absent on old kernels; gid_map tells if it was needed.
  if (!write_text("/proc/self/uid_map", own_id_map(user))) return refused("uid_map", errno);
  if (!write_text("/proc/self/gid_map", own_id_map(group))) return refused("gid_map", errno);
  return {};
}

ProcMount mount_own_proc() {
  // In a chroot "/" may be no mount point, but /proc is one.
  const auto is_ours = [](const char* point) {
    return ::mount("none", point, nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  };
  if (!is_ours("/") && !is_ours("/proc")) return ProcMount::outer;
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) return ProcMount::outer;
  return ProcMount::own;
}

}  // namespace forklift
