// Reads this machine into HostFacts. Opens no device; reads /proc and /sys only; about a millisecond.
#pragma once

#include "forklift/host_facts.hpp"

namespace forklift {

/// Never fails: what cannot be read stays at its default. `capabilities` is filled only by read_capabilities().
HostFacts read_host_facts();

/// Probes what this kernel and its seccomp filter allow (pidfd, clone with CLONE_PIDFD, memfd, subreaper, pid
/// namespace, user namespace, cgroup.kill): "yes", or "no: <reason>". Slower (forks); for `forklift env` and
/// `--isolate`, not for a launch.
std::map<std::string, std::string> read_capabilities();

}  // namespace forklift
