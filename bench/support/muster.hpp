// Knows when all replicas of a job are up, and tells one of them to crash; by two named pipes, since a launcher passes
// no descriptor on (programs/replica.cpp is the other end).
#pragma once

#include <filesystem>
#include <string>

#include "bench/support/program.hpp"
#include "bench/support/workspace.hpp"
#include "worker/descriptor.hpp"

namespace forklift::bench {

class Muster {
 public:
  /// Makes the pipes in `workspace`, which must outlive this.
  explicit Muster(const Workspace& workspace);
  Muster(const Muster&) = delete;
  Muster& operator=(const Muster&) = delete;
  ~Muster();

  [[nodiscard]] std::string up() const { return up_path_; }
  [[nodiscard]] std::string go() const { return go_path_; }

  /// Returns when `replicas` have said that they are up. Throws if `launcher` ends before that.
  void wait_until_up(int replicas, RunningProgram& launcher);

  /// The moment that a replica tells of next.
  Clock::time_point next_moment(RunningProgram& launcher);

  /// Lets the one replica crash, and returns the moment just before it did.
  Clock::time_point crash(RunningProgram& launcher);

 private:
  std::int64_t next_record(RunningProgram& launcher);

  std::filesystem::path up_path_;
  std::filesystem::path go_path_;
  Descriptor up_;
  Descriptor go_;
};

}  // namespace forklift::bench
