// A fork whose child the host program never meets: not in wait(-1), not through SIGCHLD.
#pragma once

#include <sys/types.h>

namespace forklift {

/// As fork() (whose handlers it runs), but the child is an orphan from birth: its parent is init, or the nearest
/// subreaper above. Returns its pid in the caller, 0 in the child, and -1 with errno if it could not be made. The child
/// goes on with this thread's stack as after fork(). Any thread may call; signals are blocked meanwhile.
pid_t invisible_fork();

}  // namespace forklift
