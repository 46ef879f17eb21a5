// A piece of a test in a forked child: what it did to itself (a limit, a filter, a death) ends with it.
#pragma once

#include <functional>

#include "tests/support/process_runner.hpp"

namespace forklift::support {

/// Runs `body` in a child whose exit code is its result. SIGSEGV and SIGBUS do there what they do in any program, also
/// under a sanitizer, and leave no core. `out` and `err` of the result hold what was written.
Ended in_child(const std::function<int()>& body);

/// Makes one system call fail with `os_errno` from now on, in this process: only the call with `number`, and, if
/// `argument` is not negative, only with that third argument. Ends the process if the machine refuses.
void deny_system_call(long number, int os_errno, long argument = -1);

}  // namespace forklift::support
