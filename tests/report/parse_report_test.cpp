#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "launcher/report/report_format.hpp"
#include "tests/report/builders.hpp"

namespace forklift {
namespace {

using Json = nlohmann::ordered_json;

Json a_document() { return Json::parse(json_report(testing::an_exception_report())); }

std::string error_of(const Json& document) {
  const Result<RunReport> report = parse_report(document.dump());
  return report ? "none" : report.error().message;
}

TEST(ParseReport, UnknownKey_IsIgnored) {
  Json document = a_document();
  document["invented"] = {{"later", true}};
  EXPECT_EQ(error_of(document), "none");
}

TEST(ParseReport, EveryKeyMissing_IsNamed) {
  const std::set<std::string> added_later{"model", "ended_by", "time_limit_s", "launcher_pid", "launcher_error"};
  const Json whole = a_document();
  for (const auto& [key, value] : whole.items()) {
    if (added_later.contains(key)) continue;
    Json document = whole;
    document.erase(key);
    EXPECT_NE(error_of(document).find("'" + key + "' is missing"), std::string::npos) << error_of(document);
  }
}

TEST(ParseReport, ReplicaOfAReportBeforeHeartbeats_HasNone) {
  Json document = a_document();
  EXPECT_EQ(parse_report(document.dump()).value().replicas[2].last_step, 120);
  EXPECT_EQ(parse_report(document.dump()).value().replicas[2].last_beat_s, 1.25);
  EXPECT_EQ(parse_report(document.dump()).value().replicas[0].last_step, std::nullopt);
  document["replicas"][2].erase("last_step");
  document["replicas"][2].erase("last_beat_s");
  const Result<RunReport> report = parse_report(document.dump());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report.value().replicas[2].last_step, std::nullopt);
  EXPECT_EQ(report.value().replicas[2].last_beat_s, std::nullopt);
}

TEST(ParseReport, RankOfATemplate_IsNullAndReadsBack) {
  const Json document = Json::parse(json_report(testing::a_failed_template_report()));
  EXPECT_TRUE(document["root_cause"]["rank"].is_null());
  const Result<RunReport> report = parse_report(document.dump());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report.value().root_cause->rank, template_rank);
  EXPECT_EQ(report.value().template_process->outcome, Outcome(Signalled{11, false}));
}

TEST(ParseReport, WrongTypeOrWord_NamesPlaceAndValue) {
  const struct {
    const char* pointer;
    Json value;
    const char* message;
  } table[] = {
      {"/version", 2, "report.json: 'version' is 2, expected 1"},
      {"/exit_status", "1", "report.json: 'exit_status' is string, expected a whole number"},
      {"/exit_status", 1.5, "report.json: 'exit_status' is 1.5, expected a whole number"},
      {"/exit_status", 5000000000, "report.json: 'exit_status' is 5000000000, expected a whole number"},
      {"/result", "won", "report.json: 'result' is 'won', expected a word of this version"},
      {"/command", {1, 2}, "report.json: 'command' is a list with number, expected a list of texts"},
      {"/replicas", {1}, "report.json: replicas[0]: is number, expected an object"},
      {"/replicas/1/rank", nullptr,
       "report.json: replicas[1]: 'rank' is null, expected a whole number from 0 to 1000000000"},
      {"/replicas/1/outcome/kind", "gone",
       "report.json: replicas[1]: outcome: 'kind' is 'gone', expected 'exited', 'signalled', 'failed_to_start' or "
       "'lost'"},
      {"/replicas/1/rank", -1, "report.json: replicas[1]: 'rank' is -1, expected a whole number from 0 to 1000000000"},
      {"/replicas/2/outcome/exit_code", 256,
       "report.json: replicas[2]: outcome: 'exit_code' is 256, expected a whole number from 0 to 255"},
      {"/replicas/1/outcome/signal", 0,
       "report.json: replicas[1]: outcome: 'signal' is 0, expected a whole number from 1 to 127"},
      {"/replicas/1/peak_rss_bytes", -1,
       "report.json: replicas[1]: 'peak_rss_bytes' is -1, expected a number of bytes or null"},
      {"/replicas/2/last_step", 1.5, "report.json: replicas[2]: 'last_step' is 1.5, expected a whole number"},
      {"/replicas/2/last_beat_s", "soon", "report.json: replicas[2]: 'last_beat_s' is string, expected a number"},
      {"/template", 3, "report.json: template: is number, expected an object"},
      {"/root_cause", 3, "report.json: root_cause: is number, expected an object"},
      {"/root_cause/category", "", "report.json: root_cause: 'category' is '', expected a word of this version"},
  };
  for (const auto& row : table) {
    Json document = a_document();
    document[Json::json_pointer(row.pointer)] = row.value;
    EXPECT_EQ(error_of(document), row.message);
  }
}

TEST(ParseReport, NoJson_IsSaid) {
  EXPECT_EQ(parse_report("{\"version\":").error().message, "report.json: is no valid JSON (11 bytes)");
  EXPECT_EQ(parse_report("[]").error().message, "report.json: is array, expected an object");
}

TEST(JsonReport, InvalidUtf8_IsReplaced) {
  RunReport report = testing::a_report_with_notes();
  report.command = {"./\xFF"};
  EXPECT_EQ(parse_report(json_report(report)).value().command.at(0), "./\xEF\xBF\xBD");
}

TEST(JsonReport, EveryKindOfOutcome_ReadsBack) {
  const std::vector<Outcome> outcomes{Exited{3}, Signalled{11, true},
                                      FailedToStart{StartStep::working_directory, 2, "/gone"}, Lost{"stolen"}};
  RunReport report = testing::a_report_with_notes();
  for (const Outcome& outcome : outcomes) {
    report.replicas.at(0).outcome = outcome;
    EXPECT_EQ(parse_report(json_report(report)).value().replicas.at(0).outcome, outcome);
  }
}

}  // namespace
}  // namespace forklift
