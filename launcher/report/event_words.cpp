#include "launcher/report/event_words.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "launcher/report/report_fields.hpp"
#include "launcher/report/report_words.hpp"

namespace forklift {
namespace {

constexpr int format_version = 1;

constexpr std::array all_kinds{
    RunEventKind::run_started,      RunEventKind::attempt_started, RunEventKind::replica_started,
    RunEventKind::replica_exited,   RunEventKind::signal_sent,     RunEventKind::stop_requested,
    RunEventKind::stranger_reaped,  RunEventKind::attempt_ended,   RunEventKind::run_ended,
    RunEventKind::template_started, RunEventKind::template_ended,
};

std::optional<int> natural_if_there(ReportFields& fields, const char* key) {
  return fields.has(key) ? std::optional(fields.natural(key)) : std::nullopt;
}

template <class Id>
std::optional<Id> id_if_there(ReportFields& fields, const char* key) {
  return fields.has(key) ? std::optional(Id{fields.natural(key)}) : std::nullopt;
}

std::string text_if_there(ReportFields& fields, const char* key) {
  return fields.has(key) ? fields.text(key) : std::string{};
}

RunEvent read_event(ReportFields fields) {
  RunEvent event;
  event.kind = fields.word("event", event_of_name);
  event.sequence = static_cast<std::uint64_t>(std::max<std::int64_t>(0, fields.wide_integer("seq")));
  event.mono_ns = fields.wide_integer("mono_ns");
  event.wall = text_if_there(fields, "wall");
  event.attempt = id_if_there<Attempt>(fields, "attempt");
  event.rank = id_if_there<Rank>(fields, "rank");
  event.local_rank = id_if_there<LocalRank>(fields, "local_rank");
  event.pid = natural_if_there(fields, "pid");
  event.signal = natural_if_there(fields, "signal");
  if (fields.has("outcome")) event.outcome = outcome_from_json(fields.object("outcome"));
  if (fields.has("asked")) event.asked = fields.word("asked", asked_of_name);
  event.run_id = text_if_there(fields, "run_id");
  if (fields.has("command")) event.command = fields.texts("command");
  event.world_size = natural_if_there(fields, "world_size");
  event.exit_status = natural_if_there(fields, "exit_status");
  event.note = text_if_there(fields, "note");
  return event;
}

bool has_what_its_kind_needs(const RunEvent& event) {
  switch (event.kind) {
    case RunEventKind::replica_started:
      return event.rank.has_value();
    case RunEventKind::replica_exited:
      return event.rank && event.outcome;
    case RunEventKind::run_started:
    case RunEventKind::attempt_started:
    case RunEventKind::signal_sent:
    case RunEventKind::stop_requested:
    case RunEventKind::stranger_reaped:
    case RunEventKind::attempt_ended:
    case RunEventKind::template_started:
    case RunEventKind::template_ended:
    case RunEventKind::run_ended:
      return true;
  }
  return false;
}

}  // namespace

std::string_view event_name(RunEventKind kind) {
  switch (kind) {
    case RunEventKind::run_started:
      return "run_started";
    case RunEventKind::attempt_started:
      return "attempt_started";
    case RunEventKind::replica_started:
      return "replica_started";
    case RunEventKind::replica_exited:
      return "replica_exited";
    case RunEventKind::signal_sent:
      return "signal_sent";
    case RunEventKind::stop_requested:
      return "stop_requested";
    case RunEventKind::stranger_reaped:
      return "stranger_reaped";
    case RunEventKind::attempt_ended:
      return "attempt_ended";
    case RunEventKind::template_started:
      return "template_started";
    case RunEventKind::template_ended:
      return "template_ended";
    case RunEventKind::run_ended:
      return "run_ended";
  }
  return "run_ended";
}

std::optional<RunEventKind> event_of_name(std::string_view name) {
  for (const RunEventKind kind : all_kinds) {
    if (event_name(kind) == name) return kind;
  }
  return std::nullopt;
}

std::optional<RunEvent> read_event_line(std::string_view line) {
  const auto document = ReportFields::Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || !document.is_object()) return std::nullopt;
  std::optional<Error> error;
  ReportFields fields(document, "events.jsonl", error);
  if (fields.integer("v") != format_version) return std::nullopt;
  RunEvent event = read_event(fields);
  if (error || !has_what_its_kind_needs(event)) return std::nullopt;
  return event;
}

}  // namespace forklift
