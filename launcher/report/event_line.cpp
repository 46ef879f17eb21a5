// One event → one line of events.jsonl. Written for every start and end of every replica, so without a JSON document.
#include "launcher/report/event_log.hpp"
#include "launcher/report/event_words.hpp"
#include "launcher/report/json_object.hpp"
#include "launcher/report/report_words.hpp"

namespace forklift {
namespace {

constexpr int format_version = 1;

}  // namespace

std::string event_line(const RunEvent& event) {
  JsonObject line;
  line.number("v", format_version);
  line.number("seq", event.sequence);
  line.number("mono_ns", event.mono_ns);
  line.text_if_any("wall", event.wall);
  line.word("event", event_name(event.kind));
  line.number_if_any("attempt", event.attempt);
  line.number_if_any("rank", event.rank);
  line.number_if_any("local_rank", event.local_rank);
  line.number_if_any("pid", event.pid);
  line.number_if_any("signal", event.signal);
  if (event.outcome) line.outcome("outcome", *event.outcome);
  if (event.asked) line.word("asked", asked_name(*event.asked));
  line.text_if_any("run_id", event.run_id);
  if (!event.command.empty()) line.texts("command", event.command);
  line.number_if_any("world_size", event.world_size);
  line.number_if_any("exit_status", event.exit_status);
  line.text_if_any("note", event.note);
  return std::move(line).finish() + '\n';
}

}  // namespace forklift
