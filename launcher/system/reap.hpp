// How a child ended, from the kernel, in one call that never blocks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "forklift/outcome.hpp"

namespace forklift {

struct Reaped {
  Outcome outcome;
  std::uint64_t peak_rss_bytes = 0;  ///< At least the starter's own resident size.
  double cpu_user_s = 0;
  double cpu_system_s = 0;
};

/// Its peak memory, where that is its own: a process begins with the peak of its starter. 0: this process was it.
std::optional<std::uint64_t> own_peak(const Reaped& reaped, std::uint64_t starter_rss_bytes);

/// waitid(P_PIDFD) of a child; empty while it still runs. If other code of the process took the status away:
/// PIDFD_GET_INFO, and Lost where the kernel does not have that.
std::optional<Reaped> reap_by_pidfd(int pidfd);

/// A child that has ended and is not reaped yet, whoever it is; 0 if there is none. Takes nothing away.
pid_t peek_ended_child();

/// Takes a child's status away. False if it has not ended.
bool reap_stranger(pid_t pid);

/// The signal that stopped a child since the last call, or 0.
int stopped_by(pid_t pid);

/// Whether this process has any child, running or ended.
bool has_children();

}  // namespace forklift
