#include "launcher/system/reap.hpp"

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/diagnose/decode_status.hpp"

namespace forklift {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// <linux/pidfd.h> of Linux 6.15; Debian 12's headers are older.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroupid;
  std::uint32_t pid, tgid, ppid;
  std::uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
  std::int32_t exit_code;
};
constexpr std::uint64_t pidfd_info_exit = 1U << 3;
constexpr unsigned long pidfd_get_info = _IOWR(0xFF, 11, PidfdInfo);

// Somebody else waited for our child. Newer kernels still know how it ended.
Reaped status_from_pidfd(int pidfd) {
  PidfdInfo info{};
  info.mask = pidfd_info_exit;
  if (::ioctl(pidfd, pidfd_get_info, &info) == 0 && (info.mask & pidfd_info_exit) != 0) {
    return {outcome_of_wait_status(info.exit_code), 0, 0, 0};
  }
  return {Lost{"its exit status was taken by other code of the launching process"}, 0, 0, 0};
}

}  // namespace

std::optional<std::uint64_t> own_peak(const Reaped& reaped, std::uint64_t starter_rss_bytes) {
  if (starter_rss_bytes == 0) {
    rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    starter_rss_bytes = static_cast<std::uint64_t>(own.ru_maxrss) * 1024U;
  }
  return reaped.peak_rss_bytes > starter_rss_bytes ? std::optional(reaped.peak_rss_bytes) : std::nullopt;
}

std::optional<Reaped> reap_by_pidfd(int pidfd) {
  siginfo_t info{};
  rusage usage{};
  // The raw system call: glibc's waitid does not pass rusage.
  while (::syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | WNOHANG, &usage) != 0) {
    if (errno != EINTR) return status_from_pidfd(pidfd);
  }
  if (info.si_pid == 0) return std::nullopt;
  return Reaped{outcome_of_siginfo(info.si_code, info.si_status), static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U,
                seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

pid_t peek_ended_child() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid;
}

bool reap_stranger(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) == 0 && info.si_pid == pid;
}

int stopped_by(pid_t pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOHANG) != 0 || info.si_pid == 0) return 0;
  return info.si_code == CLD_STOPPED ? info.si_status : 0;
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace forklift
