// The door of a program that forklift runs: who am I, and from here on once per replica.
//
// The same program works started by `forklift launch` (one process per replica), by `forklift launch --template` (one
// process that becomes N at its fork point), and alone (rank 0 of 1).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// Who this process is in its job. Read once from the environment that forklift set; immutable but for heartbeats.
/// Any thread may use it.
class Replica {
 public:
  /// Reads RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE and forklift's own variables; without them rank 0 of 1.
  static Replica from_environment();

  [[nodiscard]] int rank() const { return rank_; }                          ///< 0 … world_size()-1
  [[nodiscard]] int local_rank() const { return local_rank_; }              ///< 0 … local_world_size()-1
  [[nodiscard]] int world_size() const { return world_size_; }              ///< ≥ 1
  [[nodiscard]] int local_world_size() const { return local_world_size_; }  ///< ≥ 1
  [[nodiscard]] int attempt() const { return attempt_; }                    ///< 0 for the first; restarts count up
  /// Whether forklift runs this process.
  [[nodiscard]] bool supervised() const { return !run_directory_.empty(); }
  /// Where the run keeps its report; empty if not supervised.
  [[nodiscard]] const std::string& run_directory() const { return run_directory_; }

  /// Says that step `step` is done. The report shows the last one. One small write; does nothing if not supervised, and
  /// never fails the caller.
  void heartbeat(std::int64_t step) const noexcept;

  /// Says why this replica is about to end, in the words that the report shall use. The first call counts. The caller
  /// then ends the process with a status other than 0. Without forklift: the same words on stderr.
  void report_failure(std::string_view type, std::string_view text, std::string_view traceback = {}) const noexcept;

 private:
  int rank_ = 0;
  int local_rank_ = 0;
  int world_size_ = 1;
  int local_world_size_ = 1;
  int attempt_ = 0;
  std::string run_directory_;
};

/// What an interpreter has to do around a fork; any may be empty.
struct ForkHooks {
  std::function<void()> before = {};  ///< In the process that is about to fork.
  std::function<void()> parent = {};  ///< In the same after it, also if the fork failed.
  std::function<void()> child = {};   ///< In the new process, first of all.
  /// In a new replica, after the C environment was changed: for a runtime that keeps a copy of it.
  std::function<void(const std::vector<EnvironmentVariable>& set, const std::vector<std::string>& unset)> environment =
      {};
};

/// The fork point. In a template (`forklift launch --template`): everything before it ran once, and it returns once in
/// every replica, each a process of its own, never in the template; a restart forks again from the living template.
/// In any other process it returns at once. Only the calling thread exists in the replicas, so it should be the only
/// one; forklift warns of others by name. stdio is flushed first. Throws std::logic_error at a second call in the same
/// process, and std::runtime_error if the template has lost its launcher's socket.
const Replica& fork_point(const ForkHooks& hooks = {});

}  // namespace forklift
