// What the job left beside its replicas: counted, named, ended. All of it is below us, since we are a subreaper.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <vector>

#include "forklift/report.hpp"
#include "launcher/policy/event.hpp"
#include "launcher/system/process_table.hpp"

namespace forklift {

class Descendants {
 public:
  /// From now on this child of ours and its descendants belong to no attempt: they are neither counted nor ended.
  /// 0: there is none (any more).
  void spare(pid_t child);

  /// Reaps every ended stranger. `take_replica(pid)` is offered each ended child first and returns true if it was a
  /// replica. Returns the pids that were reaped as strangers.
  std::vector<int> reap_strangers(const std::function<bool(pid_t)>& take_replica);

  /// Counts, signals, and returns the number of those that still live (zombies are none).
  int sweep(policy::SweepHow how);

  /// Those that live now, for the report.
  [[nodiscard]] std::vector<Leftover> name() const;

 private:
  std::set<ProcessIdentity> spared_;
};

}  // namespace forklift
