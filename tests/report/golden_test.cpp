// Whole reports, as text and as JSON, against files that a person has read. FORKLIFT_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "launcher/report/report_format.hpp"
#include "tests/report/builders.hpp"

namespace forklift {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(FORKLIFT_SOURCE_DIR) + "/tests/report/golden/" + name;
  if (std::getenv("FORKLIFT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing: FORKLIFT_UPDATE_GOLDEN=1 writes it";
  const std::string golden{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, golden) << path;
}

struct GoldenCase {
  const char* name;
  RunReport (*make)();
};

class Golden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, Text_IsAsRead) {
  expect_golden(std::string(GetParam().name) + ".txt", text_report(GetParam().make(), TextStyle::plain));
}

TEST_P(Golden, Json_IsAsReadAndReadsBack) {
  const std::string json = json_report(GetParam().make());
  expect_golden(std::string(GetParam().name) + ".json", json);
  const Result<RunReport> read = parse_report(json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(json_report(read.value()), json);
  EXPECT_EQ(text_report(read.value(), TextStyle::plain), text_report(GetParam().make(), TextStyle::plain));
}

INSTANTIATE_TEST_SUITE_P(Reports, Golden,
                         ::testing::Values(GoldenCase{"python_exception", testing::an_exception_report},
                                           GoldenCase{"shared_exception", testing::a_shared_exception_report},
                                           GoldenCase{"out_of_memory", testing::an_out_of_memory_report},
                                           GoldenCase{"interrupted", testing::an_interrupted_report},
                                           GoldenCase{"time_limit", testing::a_time_limit_report},
                                           GoldenCase{"succeeded_after_restarts", testing::a_restarted_report},
                                           GoldenCase{"succeeded_with_notes", testing::a_report_with_notes},
                                           GoldenCase{"failed_start", testing::a_failed_start_report},
                                           GoldenCase{"failed_template", testing::a_failed_template_report}),
                         [](const auto& golden) { return std::string(golden.param.name); });

TEST(TextReport, SuccessWithoutNotes_IsEmpty) {
  RunReport report = testing::a_report_with_notes();
  report.notes.clear();
  report.leftovers.clear();
  EXPECT_EQ(text_report(report, TextStyle::plain), "");
}

TEST(TextReport, Colours_ChangeNothingElse) {
  const RunReport report = testing::an_exception_report();
  std::string coloured = text_report(report, TextStyle::coloured);
  EXPECT_NE(coloured, text_report(report, TextStyle::plain));
  for (const char* code : {"\x1b[1;31m", "\x1b[1;33m", "\x1b[1m", "\x1b[0m"}) {
    for (std::size_t at = coloured.find(code); at != std::string::npos; at = coloured.find(code)) {
      coloured.erase(at, std::string(code).size());
    }
  }
  EXPECT_EQ(coloured, text_report(report, TextStyle::plain));
}

}  // namespace
}  // namespace forklift
