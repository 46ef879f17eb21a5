// How a replica ended. An outcome cannot be misread: "exit 11" and "killed by signal 11" are different types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "forklift/ids.hpp"

namespace forklift {

/// The step of starting a replica that failed. The child reports {step, errno}; nothing else can be said from there.
/// The order is the order in which the child performs them (`clone` happens in the launcher).
enum class StartStep : std::uint8_t {
  prepare,            ///< Making the pipes, log files or the frozen image (in the launcher).
  clone,              ///< Creating the process (EAGAIN: RLIMIT_NPROC or pids cgroup).
  process_group,      ///< setpgid
  parent_death,       ///< prctl(PR_SET_PDEATHSIG), or the launcher was already gone.
  standard_streams,   ///< dup3 of stdin, stdout, stderr
  descriptors,        ///< close_range, or placing an inherited descriptor
  affinity,           ///< sched_setaffinity
  resource_limit,     ///< setrlimit
  working_directory,  ///< chdir
  terminal,           ///< tcsetpgrp of the interactive rank
  execute,            ///< execve
  fork_point,         ///< The template ended with success before it reached its fork point (errno 0).
};

struct Exited {
  int code = 0;  ///< 0 … 255
  friend bool operator==(const Exited&, const Exited&) = default;
};

struct Signalled {
  int signal = 0;
  bool core_dumped = false;
  friend bool operator==(const Signalled&, const Signalled&) = default;
};

struct FailedToStart {
  StartStep step = StartStep::execute;
  int os_errno = 0;
  std::string subject;  ///< The file or value the step worked on, e.g. the path given to execve.
  friend bool operator==(const FailedToStart&, const FailedToStart&) = default;
};

/// The end was never seen (status stolen by other code, supervisor killed).
struct Lost {
  std::string why;  ///< A sentence without its subject.
  friend bool operator==(const Lost&, const Lost&) = default;
};

using Outcome = std::variant<Exited, Signalled, FailedToStart, Lost>;

/// True only for Exited{0}.
inline bool succeeded(const Outcome& outcome) {
  const auto* exited = std::get_if<Exited>(&outcome);
  return exited != nullptr && exited->code == 0;
}

/// The strongest signal the launcher had sent to a replica before it ended: a replica that we stopped is collateral.
enum class AskedToStop : std::uint8_t {
  no,        ///< It ended by itself (or by somebody else's hand).
  politely,  ///< The launcher had sent it the stop signal (SIGTERM, SIGINT, …).
  killed,    ///< The launcher had sent it SIGKILL.
};

/// An outcome, and everything that was seen of the replica around it.
struct Ending {
  Rank rank;
  LocalRank local_rank;
  Attempt attempt;
  int pid = 0;  ///< 0 when the process was never created.
  Outcome outcome;
  AskedToStop asked = AskedToStop::no;
  std::uint64_t order = 0;  ///< Position among all endings of the run, in the order the kernel reported them.
  double started_s = 0;     ///< Seconds since the launch, monotonic.
  double ended_s = 0;
  std::optional<std::uint64_t> peak_rss_bytes;  ///< Empty where the figure would be the launcher's own.
  double cpu_user_s = 0;
  double cpu_system_s = 0;
  std::optional<std::int64_t> last_step;  ///< Of its last heartbeat (worker.hpp); empty if it gave none.
  std::optional<double> last_beat_s;      ///< When that was; seconds since the launch.
  std::string stderr_tail;                ///< Last bytes of its stderr (8 KiB, more if a traceback goes on), raw.
  std::string stdout_tail;                ///< Last bytes of its stdout, raw; may be empty when redirected.
};

}  // namespace forklift
