// Looks at the memory of young replicas, when the policy says so, and passes its warning on. With --memory-check off,
// or with one replica, it never does anything.
//
// One thread, the loop's. It wakes the launcher at most six times in the first ten seconds of an attempt (and once more
// a moment after a look that sees the memory running out), twice if nothing grows, and never after that.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>
#include <vector>

#include "forklift/plan.hpp"
#include "launcher/policy/memory_watch.hpp"
#include "launcher/supervise/replica_group.hpp"

namespace forklift {

class MemorySampler {
 public:
  using Warn = std::function<void(const std::string& sentence)>;

  /// `plan` and `group` must outlive it. `warn` is called from the loop, at most once per attempt.
  MemorySampler(boost::asio::io_context& io, const Plan& plan, const ReplicaGroup& group, Warn warn);

  /// All replicas of an attempt were started.
  void begin();
  /// They are being stopped, or have ended.
  void end();

 private:
  void arm();
  void look();

  const Plan& plan_;
  const ReplicaGroup& group_;
  Warn warn_;
  boost::asio::steady_timer timer_;
  policy::MemoryWatch watch_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace forklift
