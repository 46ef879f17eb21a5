// The words of events.jsonl, and reading one line of it back.
#pragma once

#include <optional>
#include <string_view>

#include "launcher/report/event_log.hpp"

namespace forklift {

/// "run_started", "replica_exited", …: the words of the enum.
std::string_view event_name(RunEventKind kind);
std::optional<RunEventKind> event_of_name(std::string_view name);

/// Reads one line; empty if it is torn, foreign, of another version, or lacks what its kind needs.
std::optional<RunEvent> read_event_line(std::string_view line);

}  // namespace forklift
