// events.jsonl: one line per event, so that a run can be told again even if the supervisor was killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "forklift/report.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// `run_started` also carries what a rebuilt report needs: run_id, command, world_size.
enum class RunEventKind : std::uint8_t {
  run_started,
  attempt_started,
  replica_started,
  replica_exited,
  template_started,
  template_ended,
  signal_sent,
  stop_requested,
  stranger_reaped,
  attempt_ended,
  run_ended,
};

/// One event; fields that do not apply stay empty.
struct RunEvent {
  static RunEvent of(RunEventKind kind) {
    RunEvent event;
    event.kind = kind;
    return event;
  }

  RunEventKind kind = RunEventKind::run_started;
  std::uint64_t sequence = 0;  ///< 0, 1, 2 … within a run.
  std::int64_t mono_ns = 0;    ///< CLOCK_MONOTONIC
  std::string wall;            ///< RFC 3339 with milliseconds
  std::optional<Attempt> attempt;
  std::optional<Rank> rank;
  std::optional<LocalRank> local_rank;
  std::optional<int> pid;
  std::optional<int> signal;
  std::optional<Outcome> outcome;    ///< replica_exited, template_ended
  std::optional<AskedToStop> asked;  ///< replica_exited
  std::string run_id;                ///< run_started
  std::vector<std::string> command;  ///< run_started
  std::optional<int> world_size;     ///< run_started
  std::optional<int> exit_status;    ///< run_ended
  std::string note;
};

/// One line of JSON, ending in '\n'.
std::string event_line(const RunEvent& event);

/// Whether anybody still supervises a run.
enum class RunLife : std::uint8_t {
  ended,    ///< Nobody does.
  running,  ///< Its supervisor lives.
  unknown,  ///< The file system keeps no locks: nobody can tell.
};

/// What can be seen of the launcher of a run from here.
struct RunHolder {
  RunLife life = RunLife::ended;
  int launcher_pid = 0;  ///< The process that the user started; 0: not visible from here.
};

/// The report of a run that has not written its own. It still goes on: so says the report, and replicas without an end
/// are running. Else forklift was killed: they are Lost, exit status 125. Lines that cannot be read (a torn last one)
/// are skipped and counted in a note.
Result<RunReport> rebuild_report(std::string_view events_jsonl, const std::string& run_directory,
                                 const RunHolder& holder = {});

}  // namespace forklift
