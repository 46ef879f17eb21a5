// The states of a group of replicas; each holds only what has a meaning in it.
#pragma once

#include <variant>

#include "launcher/policy/descendant_sweep.hpp"
#include "launcher/policy/event.hpp"
#include "launcher/policy/stop_ladder.hpp"

namespace forklift::policy {

/// Why an attempt ends; the first reason stays, except that forklift's own failure overrides all.
enum class EndCause {
  success,                 ///< Every replica exited 0.
  replica_failure,         ///< A replica failed; another attempt may follow.
  stopped_before_restart,  ///< A replica failed, and a stop request came while only the next attempt was undecided.
  stop_request,            ///< Somebody outside, or the time limit, wanted the end.
  launcher_failure,        ///< The guard is gone, or forklift itself cannot go on.
};

/// How far the start of an attempt's replicas has come.
enum class StartPhase { under_way, cancelled, complete };

/// The replicas of one attempt.
struct Crew {
  int alive = 0;  ///< Started or still to be started, and not ended.
  StartPhase start = StartPhase::under_way;
  /// No replica is left and none will come.
  [[nodiscard]] bool gone() const { return alive == 0 && start == StartPhase::complete; }
};

struct Idle {};       ///< Before Begin.
struct Reserving {};  ///< The attempt's ports are being found; nothing of it runs.
struct Running {
  Crew crew;
};  ///< No replica has failed.
struct Judging {
  Crew crew;
  Instant until;
};  ///< A replica died as of an outside stop; a request that explains it may be on its way.
struct Stopping {
  Crew crew;
  EndCause cause;
  StopLadder ladder;
};
struct Sweeping {
  EndCause cause;
  DescendantSweep sweep;
};  ///< The replicas are gone, or given up.
struct Diagnosing {
  EndCause cause;
};  ///< Nothing runs; the loop looks for the reason.
struct Finished {};

using GroupState = std::variant<Idle, Reserving, Running, Judging, Stopping, Sweeping, Diagnosing, Finished>;

/// The state's name, for logs and tests. `starting` is Running before GroupStarted.
enum class Phase { idle, reserving, starting, running, judging, stopping, sweeping, diagnosing, finished };

}  // namespace forklift::policy
