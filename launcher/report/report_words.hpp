// The words of report.json and events.jsonl for the enums of a report, and an outcome as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "forklift/report.hpp"
#include "launcher/report/report_fields.hpp"

namespace forklift {

std::string_view result_name(RunResult result);
std::string_view ended_by_name(EndedBy ender);
std::string_view role_name(ReplicaRole role);
std::string_view asked_name(AskedToStop asked);

std::optional<RunResult> result_of_name(std::string_view name);
std::optional<EndedBy> ended_by_of_name(std::string_view name);
std::optional<ReplicaRole> role_of_name(std::string_view name);
std::optional<AskedToStop> asked_of_name(std::string_view name);

/// {"kind": "exited", "exit_code"}, {"kind": "signalled", "signal", "signal_name", "core_dumped"},
/// {"kind": "failed_to_start", "step", "errno", "subject"} or {"kind": "lost", "why"}.
nlohmann::ordered_json outcome_to_json(const Outcome& outcome);

/// Exited{0} if a field was wrong; the fields then hold the error.
Outcome outcome_from_json(ReportFields fields);

}  // namespace forklift
