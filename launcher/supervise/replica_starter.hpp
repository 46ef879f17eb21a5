// How the replicas of an attempt come into being: spawned one by one, or forked by a template. What follows (watching,
// signalling, reaping) is the same for both, and is the ReplicaGroup's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "forklift/outcome.hpp"
#include "forklift/plan.hpp"
#include "launcher/supervise/stream_ends.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

/// A replica that runs, as its starter hands it over.
struct StartedReplica {
  pid_t pid = 0;  ///< A child of ours that nobody has reaped.
  Descriptor pidfd;
  StreamEnds streams;
  double started_s = 0;  ///< Seconds since the launch.
  /// What its peak memory can be at the least, since it began as a copy of its starter; 0: as ours.
  std::uint64_t starter_rss_bytes = 0;
};

class ReplicaStarter {
 public:
  /// Told from the loop, for each replica of an attempt exactly one of the first two or a place among never_started.
  class Client {
   public:
    virtual void replica_runs(const ReplicaPlan& replica, StartedReplica started) = 0;
    virtual void replica_failed_to_start(const ReplicaPlan& replica, FailedToStart failure, double started_s) = 0;
    /// Last. `never_started`: those that cancel() came in time for, or whose template was lost.
    virtual void start_is_complete(std::span<const ReplicaPlan* const> never_started) = 0;

   protected:
    ~Client() = default;
  };

  virtual ~ReplicaStarter() = default;

  /// `client` must outlive the start. Not before the last start is complete.
  virtual void start(const AttemptValues& values, Client& client) = 0;
  /// The replicas not started yet never are; start_is_complete() still follows.
  virtual void cancel() = 0;
};

}  // namespace forklift
