// The processes that a host program forks for one job:
//
//   host ──(invisible fork)──► guard ──fork──► supervisor ──fork──► template
//
// Guard and supervisor execute the forklift binary; the template keeps the host's memory and waits at its fork point.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "forklift/result.hpp"
#include "worker/control_socket.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

struct HostProcessesPlan {
  std::string binary;
  std::vector<std::string> launch_words;  ///< Words of `forklift launch`.
  int supervisor_output = 1;              ///< What becomes the supervisor's standard output and error.
  int supervisor_error = 2;
};

struct HostProcesses {
  enum class Self { host, in_template };
  Self self = Self::host;
  ControlSocket supervisor;  ///< In the host: results and the end come from there.
  Descriptor guard_pidfd;    ///< In the host: readable when the guard has ended. Invalid: it has already.
  ControlSocket forks;       ///< In the template: fork requests.
};

/// Forks them. Returns in the host and in the template. Any thread; not two at a time.
Result<HostProcesses> fork_host_processes(const HostProcessesPlan& plan);

}  // namespace forklift
