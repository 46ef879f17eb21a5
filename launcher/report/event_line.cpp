// One event → one line of events.jsonl. Written for every start and end of every replica, so without a JSON document.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "launcher/report/event_log.hpp"
#include "launcher/report/event_words.hpp"
#include "launcher/report/report_words.hpp"

namespace forklift {
namespace {

constexpr int format_version = 1;

std::string dumped(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Builds {"key":value,…} from left to right; fields that are empty are left out.
class LineWriter {
 public:
  template <class Number>
  void number(std::string_view key, const std::optional<Number>& value) {
    if (value) field(key, *value);
  }
  template <class Tag>
  void id(std::string_view key, const std::optional<Id<Tag>>& value) {
    if (value) field(key, value->value);
  }
  /// A word of an enum: never needs escaping.
  void word(std::string_view key, std::string_view value) { field(key, fmt::format("\"{}\"", value)); }
  void text(std::string_view key, const std::string& value) {
    if (!value.empty()) field(key, dumped(value));
  }
  void json(std::string_view key, const nlohmann::ordered_json& value) { field(key, dumped(value)); }

  [[nodiscard]] std::string finish() && { return std::move(line_) + "}\n"; }

 private:
  template <class Value>
  void field(std::string_view key, const Value& value) {
    fmt::format_to(std::back_inserter(line_), "{}\"{}\":{}", line_.empty() ? '{' : ',', key, value);
  }
  std::string line_;
};

}  // namespace

std::string event_line(const RunEvent& event) {
  LineWriter line;
  line.number("v", std::optional(format_version));
  line.number("seq", std::optional(event.sequence));
  line.number("mono_ns", std::optional(event.mono_ns));
  line.text("wall", event.wall);
  line.word("event", event_name(event.kind));
  line.id("attempt", event.attempt);
  line.id("rank", event.rank);
  line.id("local_rank", event.local_rank);
  line.number("pid", event.pid);
  line.number("signal", event.signal);
  if (event.outcome) line.json("outcome", outcome_to_json(*event.outcome));
  if (event.asked) line.word("asked", asked_name(*event.asked));
  line.text("run_id", event.run_id);
  if (!event.command.empty()) line.json("command", event.command);
  line.number("world_size", event.world_size);
  line.number("exit_status", event.exit_status);
  line.text("note", event.note);
  return std::move(line).finish();
}

}  // namespace forklift
