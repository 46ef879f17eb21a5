#include "launcher/report/report_words.hpp"

#include <array>

#include "launcher/diagnose/decode_status.hpp"

namespace forklift {
namespace {

using Json = nlohmann::ordered_json;

constexpr int highest_exit_code = 255;
constexpr int highest_signal = 127;  // what a wait status has room for

template <class Enum, std::size_t Count>
std::optional<Enum> find_by_name(const std::array<Enum, Count>& all, std::string_view (*word_of)(Enum),
                                 std::string_view name) {
  for (const Enum candidate : all) {
    if (word_of(candidate) == name) return candidate;
  }
  return std::nullopt;
}

Json to_json(const Exited& exited) { return {{"kind", "exited"}, {"exit_code", exited.code}}; }

Json to_json(const Signalled& signalled) {
  return {{"kind", "signalled"},
          {"signal", signalled.signal},
          {"signal_name", signal_name(signalled.signal)},
          {"core_dumped", signalled.core_dumped}};
}

Json to_json(const FailedToStart& failure) {
  return {{"kind", "failed_to_start"},
          {"step", step_name(failure.step)},
          {"errno", failure.os_errno},
          {"subject", failure.subject}};
}

Json to_json(const Lost& lost) { return {{"kind", "lost"}, {"why", lost.why}}; }

}  // namespace

std::string_view result_name(RunResult result) {
  switch (result) {
    case RunResult::succeeded:
      return "succeeded";
    case RunResult::failed:
      return "failed";
    case RunResult::interrupted:
      return "interrupted";
    case RunResult::running:
      return "running";
  }
  return "failed";
}

std::string_view ended_by_name(EndedBy ender) {
  switch (ender) {
    case EndedBy::nobody:
      return "nobody";
    case EndedBy::terminal:
      return "terminal";
    case EndedBy::outside:
      return "outside";
    case EndedBy::time_limit:
      return "time_limit";
    case EndedBy::launcher:
      return "launcher";
    case EndedBy::host:
      return "host";
  }
  return "nobody";
}

std::string_view role_name(ReplicaRole role) {
  switch (role) {
    case ReplicaRole::succeeded:
      return "succeeded";
    case ReplicaRole::root_cause:
      return "root_cause";
    case ReplicaRole::collateral:
      return "collateral";
    case ReplicaRole::failed_alike:
      return "failed_alike";
    case ReplicaRole::running:
      return "running";
  }
  return "collateral";
}

std::string_view asked_name(AskedToStop asked) {
  switch (asked) {
    case AskedToStop::no:
      return "no";
    case AskedToStop::politely:
      return "politely";
    case AskedToStop::killed:
      return "killed";
  }
  return "no";
}

std::optional<RunResult> result_of_name(std::string_view name) {
  constexpr std::array all{RunResult::succeeded, RunResult::failed, RunResult::interrupted, RunResult::running};
  return find_by_name(all, result_name, name);
}

std::optional<EndedBy> ended_by_of_name(std::string_view name) {
  constexpr std::array all{EndedBy::nobody,     EndedBy::terminal, EndedBy::outside,
                           EndedBy::time_limit, EndedBy::launcher, EndedBy::host};
  return find_by_name(all, ended_by_name, name);
}

std::optional<ReplicaRole> role_of_name(std::string_view name) {
  constexpr std::array all{ReplicaRole::succeeded, ReplicaRole::root_cause, ReplicaRole::collateral,
                           ReplicaRole::failed_alike, ReplicaRole::running};
  return find_by_name(all, role_name, name);
}

std::optional<AskedToStop> asked_of_name(std::string_view name) {
  constexpr std::array all{AskedToStop::no, AskedToStop::politely, AskedToStop::killed};
  return find_by_name(all, asked_name, name);
}

Json outcome_to_json(const Outcome& outcome) {
  return std::visit([](const auto& alternative) { return to_json(alternative); }, outcome);
}

Outcome outcome_from_json(ReportFields fields) {
  const std::string kind = fields.text("kind");
  if (kind == "exited") return Exited{fields.integer_within("exit_code", 0, highest_exit_code)};
  if (kind == "signalled")
    return Signalled{fields.integer_within("signal", 1, highest_signal), fields.truth("core_dumped")};
  if (kind == "failed_to_start") {
    return FailedToStart{fields.word("step", step_of_name), fields.integer("errno"), fields.text("subject")};
  }
  if (kind == "lost") return Lost{fields.text("why")};
  fields.fail("kind", "'exited', 'signalled', 'failed_to_start' or 'lost'", "'" + kind + "'");
  return Exited{0};
}

}  // namespace forklift
