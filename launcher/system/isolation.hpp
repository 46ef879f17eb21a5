// A pid namespace for the job: the kernel itself ends everything in it with its first process, whoever is killed.
#pragma once

#include "forklift/result.hpp"

namespace forklift {

/// In the guard, before it forks: its next child will be the first process of a new pid namespace; as an ordinary user
/// through a user namespace that maps only the own user. Error: what the machine refused.
Result<void> enter_new_pid_namespace();

/// In that child: a /proc of its own, so that the job sees its own pids. Best effort: where mounting is refused, the
/// outer /proc stays, which confuses nobody but `ps`. Returns false then.
enum class ProcMount { own, outer };
ProcMount mount_own_proc();

}  // namespace forklift
