// What was read from the machine around an attempt. Data; gathered by launcher/system.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forklift/ids.hpp"

namespace forklift {

/// Counts of OOM kills; empty where the kernel does not say.
struct OomCounters {
  std::optional<std::uint64_t> machine;  ///< /proc/vmstat oom_kill
  std::optional<std::uint64_t> cgroup;   ///< memory.events (v2) or memory.oom_control (v1) of our own cgroup
};

struct SharedMemoryFacts {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
};

/// Who listens on a port.
struct PortHolder {
  int port = 0;
  int pid = 0;  ///< 0: not visible to us.
  std::string command;
};

struct AttemptEvidence {
  OomCounters oom_before;
  OomCounters oom_after;
  std::optional<SharedMemoryFacts> shared_memory;   ///< Read when the first replica died.
  std::optional<std::uint64_t> memory_limit_bytes;  ///< Tightest cgroup limit.
  std::uint64_t memory_total_bytes = 0;
  std::string executable;                         ///< The file that the replicas' argv[0] stands for.
  std::map<Rank, std::string> error_files;        ///< Raw text of TORCHELASTIC_ERROR_FILE, for ranks that wrote one.
  std::optional<PortHolder> port_holder;          ///< If a fixed port of the plan was busy at the end.
  std::vector<std::string> capabilities_missing;  ///< e.g. "pidfd", for honesty in the evidence.
};

}  // namespace forklift
