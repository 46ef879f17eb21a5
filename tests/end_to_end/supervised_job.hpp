// The fixture of tests about supervision: looks into a job while it runs, by its event log and by /proc.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/end_to_end/job_test.hpp"
#include "tests/support/child_command.hpp"
#include "tests/support/eventually.hpp"

namespace forklift::support {

/// What the kernel calls the supervisor.
inline constexpr std::string_view supervisor_name = "lift-supervisor";

/// The ordinary user that every Linux has.
inline constexpr uid_t nobody = 65534;

/// The one-letter state in /proc (S, R, T, Z, …); 0 if there is no such process.
char process_state(int pid);
/// Its name (comm); empty if there is no such process.
std::string process_name(int pid);

/// For eventually(): the process is in state `expected`.
Seen state_is(int pid, char expected);

/// A replica that is a shell script; RANK and the other variables of a replica are its.
Words shell(const std::string& script);

/// The replicas of `--num-processes COUNT` in a job that is made to run `program`.
Words replicas(int count, const Words& program);

class SupervisedJobTest : public JobTest {
 protected:
  /// Lets jobs run as `user`; only root may. They keep their reports where ours would be.
  void give_scratch_to(uid_t user) const;

  /// The lines of events.jsonl with this event, so far. A line that is being written does not count.
  [[nodiscard]] std::vector<Json> events(std::string_view name) const;
  /// For eventually(): `count` of them, or more.
  [[nodiscard]] Seen events_reach(std::string_view name, std::size_t count) const;

  /// The supervisor of this test's only job. Waits for it; 0, and the test fails, if it does not come.
  [[nodiscard]] int supervisor_pid() const;
  /// The replica of the last attempt, as its event says; fails the test if it was not started.
  [[nodiscard]] int replica_pid(int rank) const;

  /// The replicas' outcomes in report.json, by rank: "exited 0", "SIGKILL", "lost", …
  [[nodiscard]] std::vector<std::string> outcomes() const;
};

}  // namespace forklift::support
