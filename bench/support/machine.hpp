// What the figures of a run depend on.
#pragma once

#include <cstdint>
#include <string>

namespace forklift::bench {

struct Machine {
  int cpus = 0;           ///< That this process may use.
  std::string cpu_model;  ///< As /proc/cpuinfo names it; "unknown" where it does not.
  std::string kernel;     ///< The release, as `uname -r` prints it.
  std::uint64_t memory_bytes = 0;
  std::string date;  ///< RFC 3339, UTC.
};

Machine this_machine();

}  // namespace forklift::bench
