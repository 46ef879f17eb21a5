// report.json, version 1: RunReport → JSON and back. Keys are only ever added within a version.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/report/json_object.hpp"
#include "launcher/report/report_fields.hpp"
#include "launcher/report/report_format.hpp"
#include "launcher/report/report_words.hpp"

namespace forklift {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;
constexpr const char* file_name = "report.json";

// ---- writing ------------------------------------------------------------------------------------------------------

/// Microseconds are enough; the digits beyond them would only be noise in the file. JSON has no infinity.
double rounded(double seconds) {
  constexpr double per_second = 1e6;
  constexpr double longest = 1e9;  // thirty years
  if (!std::isfinite(seconds)) return 0;
  return std::round(std::clamp(seconds, -longest, longest) * per_second) / per_second;
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json null_if_empty(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json to_json(const std::optional<RootCause>& cause) {
  if (!cause) return nullptr;
  const Diagnosis& diagnosis = cause->diagnosis;
  return {{"rank", cause->rank == template_rank ? Json(nullptr) : Json(cause->rank.value)},
          {"pid", cause->pid},
          {"outcome", outcome_to_json(cause->outcome)},
          {"category", category_name(diagnosis.category)},
          {"confidence", confidence_name(diagnosis.confidence)},
          {"summary", diagnosis.summary},
          {"evidence", diagnosis.evidence},
          {"advice", diagnosis.advice},
          {"traceback", diagnosis.traceback}};
}

Json to_json(const AttemptReport& attempt) {
  return {{"n", attempt.attempt.value}, {"root_cause", to_json(attempt.root_cause)}};
}

/// There may be thousands of them: no document, and one line each.
std::string replica_line(const ReplicaReport& replica) {
  JsonObject line;
  line.number("rank", replica.rank.value);
  line.number("local_rank", replica.local_rank.value);
  line.number("pid", replica.pid);
  line.number("attempt", replica.attempt.value);
  replica.role == ReplicaRole::running ? line.null("outcome") : line.outcome("outcome", replica.outcome);
  line.word("asked", asked_name(replica.asked));
  line.word("role", role_name(replica.role));
  line.number("started_s", rounded(replica.started_s));
  line.number("ended_s", rounded(replica.ended_s));
  line.number_or_null("peak_rss_bytes", replica.peak_rss_bytes);
  line.number("cpu_user_s", rounded(replica.cpu_user_s));
  line.number("cpu_system_s", rounded(replica.cpu_system_s));
  line.number_or_null("last_step", replica.last_step);
  replica.last_beat_s ? line.number("last_beat_s", rounded(*replica.last_beat_s)) : line.null("last_beat_s");
  line.texts("last_lines", replica.last_lines);
  line.text_or_null("stdout_file", replica.stdout_file);
  line.text_or_null("stderr_file", replica.stderr_file);
  return std::move(line).finish();
}

Json to_json(const std::optional<TemplateReport>& process) {
  if (!process) return nullptr;
  return {{"pid", process->pid},
          {"outcome", process->outcome ? outcome_to_json(*process->outcome) : Json(nullptr)},
          {"last_lines", process->last_lines}};
}

Json to_json(const std::optional<ModelReport>& model) {
  if (!model) return nullptr;
  return {{"path", model->path},
          {"bytes", model->bytes},
          {"tensors", model->tensors},
          {"tied_groups", model->tied_groups},
          {"mapped_by", model->mapped_by},
          {"pss_bytes", or_null(model->pss_bytes)},
          {"pss_replicas", model->pss_replicas}};
}

Json to_json(const Leftover& leftover) {
  return {{"pid", leftover.pid}, {"command", leftover.command}, {"what", leftover.what}};
}

template <class Value>
Json list_of(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

Json to_json(const RunReport& report) {
  return {{"version", format_version},
          {"run_id", report.run_id},
          {"run_directory", report.run_directory},
          {"command", report.command},
          {"started", report.started},
          {"ended", report.ended},
          {"exit_status", report.result == RunResult::running ? Json(nullptr) : Json(report.exit_status)},
          {"result", result_name(report.result)},
          {"stop_signal", report.stop_signal == 0 ? Json(nullptr) : Json(report.stop_signal)},
          {"ended_by", ended_by_name(report.ended_by)},
          {"time_limit_s", or_null(report.time_limit_s)},
          {"launcher_error", null_if_empty(report.launcher_error)},
          {"launcher_pid", report.launcher_pid == 0 ? Json(nullptr) : Json(report.launcher_pid)},
          {"world_size", report.world_size},
          {"root_cause", to_json(report.root_cause)},
          {"attempts", list_of(report.attempts)},
          {"replicas", Json::array()},  // json_report() fills it
          {"template", to_json(report.template_process)},
          {"leftovers", list_of(report.leftovers)},
          {"model", to_json(report.model)},
          {"notes", report.notes}};
}

// ---- reading ------------------------------------------------------------------------------------------------------

RootCause read_root_cause(ReportFields fields) {
  RootCause cause;
  cause.rank = Rank{fields.natural_or_null("rank").value_or(template_rank.value)};
  cause.pid = fields.natural("pid");
  cause.outcome = outcome_from_json(fields.object("outcome"));
  cause.diagnosis.category = fields.word("category", category_of_name);
  cause.diagnosis.confidence = fields.word("confidence", confidence_of_name);
  cause.diagnosis.summary = fields.text("summary");
  cause.diagnosis.evidence = fields.texts("evidence");
  cause.diagnosis.advice = fields.texts("advice");
  cause.diagnosis.traceback = fields.text("traceback");
  return cause;
}

std::optional<RootCause> read_root_cause_of(ReportFields& fields) {
  std::optional<ReportFields> cause = fields.object_or_null("root_cause");
  if (!cause) return std::nullopt;
  return read_root_cause(*std::move(cause));
}

AttemptReport read_attempt(ReportFields fields) {
  AttemptReport attempt;
  attempt.attempt = Attempt{fields.natural("n")};
  attempt.root_cause = read_root_cause_of(fields);
  return attempt;
}

ReplicaReport read_replica(ReportFields fields) {
  ReplicaReport replica;
  replica.rank = Rank{fields.natural("rank")};
  replica.local_rank = LocalRank{fields.natural("local_rank")};
  replica.pid = fields.natural("pid");
  replica.attempt = Attempt{fields.natural("attempt")};
  replica.role = fields.word("role", role_of_name);
  if (replica.role != ReplicaRole::running) replica.outcome = outcome_from_json(fields.object("outcome"));
  replica.asked = fields.word("asked", asked_of_name);
  replica.started_s = fields.number("started_s");
  replica.ended_s = fields.number("ended_s");
  replica.peak_rss_bytes = fields.count_or_null("peak_rss_bytes");
  replica.cpu_user_s = fields.number("cpu_user_s");
  replica.cpu_system_s = fields.number("cpu_system_s");
  if (fields.has("last_step")) replica.last_step = fields.wide_integer_or_null("last_step");
  if (fields.has("last_beat_s")) replica.last_beat_s = fields.number_or_null("last_beat_s");
  replica.last_lines = fields.texts("last_lines");
  if (fields.has("stdout_file")) replica.stdout_file = fields.text_or_null("stdout_file").value_or("");
  if (fields.has("stderr_file")) replica.stderr_file = fields.text_or_null("stderr_file").value_or("");
  return replica;
}

std::optional<TemplateReport> read_template_of(ReportFields& fields) {
  std::optional<ReportFields> found = fields.object_or_null("template");
  if (!found) return std::nullopt;
  TemplateReport process;
  process.pid = found->natural("pid");
  if (auto outcome = found->object_or_null("outcome")) process.outcome = outcome_from_json(*std::move(outcome));
  process.last_lines = found->texts("last_lines");
  return process;
}

std::optional<ModelReport> read_model_of(ReportFields& fields) {
  std::optional<ReportFields> found = fields.object_or_null("model");
  if (!found) return std::nullopt;
  ModelReport model;
  model.path = found->text("path");
  model.bytes = found->count_or_null("bytes").value_or(0);
  model.tensors = found->count_or_null("tensors").value_or(0);
  model.tied_groups = found->count_or_null("tied_groups").value_or(0);
  model.mapped_by = found->text("mapped_by");
  model.pss_bytes = found->count_or_null("pss_bytes");
  model.pss_replicas = found->natural("pss_replicas");
  return model;
}

Leftover read_leftover(ReportFields fields) {
  return {fields.natural("pid"), fields.text("command"), fields.text("what")};
}

template <class Value>
std::vector<Value> read_list(ReportFields& fields, const char* key, Value (*read)(ReportFields)) {
  std::vector<Value> values;
  for (ReportFields& element : fields.objects(key)) values.push_back(read(std::move(element)));
  return values;
}

RunReport read_report(ReportFields fields) {
  const int version = fields.integer("version");
  if (version != format_version) fields.fail("version", std::to_string(format_version), std::to_string(version));
  RunReport report;
  report.run_id = fields.text("run_id");
  report.run_directory = fields.text("run_directory");
  report.command = fields.texts("command");
  report.started = fields.text("started");
  report.ended = fields.text("ended");
  report.exit_status = fields.integer_or_null("exit_status").value_or(0);
  report.result = fields.word("result", result_of_name);
  report.stop_signal = fields.integer_or_null("stop_signal").value_or(0);
  if (fields.has("ended_by")) report.ended_by = fields.word("ended_by", ended_by_of_name);
  if (fields.has("time_limit_s")) report.time_limit_s = fields.number_or_null("time_limit_s");
  if (fields.has("launcher_error")) report.launcher_error = fields.text_or_null("launcher_error").value_or("");
  if (fields.has("launcher_pid")) report.launcher_pid = fields.natural_or_null("launcher_pid").value_or(0);
  report.world_size = fields.natural("world_size");
  report.root_cause = read_root_cause_of(fields);
  report.attempts = read_list(fields, "attempts", read_attempt);
  report.replicas = read_list(fields, "replicas", read_replica);
  report.template_process = read_template_of(fields);
  report.model = read_model_of(fields);
  report.leftovers = read_list(fields, "leftovers", read_leftover);
  report.notes = fields.texts("notes");
  return report;
}

}  // namespace

std::string json_report(const RunReport& report) {
  std::string text = to_json(report).dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  if (report.replicas.empty()) return text;
  std::string lines;
  for (const ReplicaReport& replica : report.replicas) {
    lines += (lines.empty() ? "\n    " : ",\n    ") + replica_line(replica);
  }
  // No text of a report looks like this: within one, a line break is escaped.
  constexpr std::string_view empty_list = "\n  \"replicas\": [";
  return text.insert(text.find(empty_list) + empty_list.size(), lines + "\n  ");
}

Result<RunReport> parse_report(std::string_view json) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    return Error{ErrorKind::usage, fmt::format("{}: is no valid JSON ({} bytes)", file_name, json.size())};
  }
  std::optional<Error> error;
  RunReport report = read_report(ReportFields(document, file_name, error));
  if (error) return *std::move(error);
  return report;
}

}  // namespace forklift
