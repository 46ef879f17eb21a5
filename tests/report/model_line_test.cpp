// What the report says about a model that replicas shared.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "launcher/report/report_format.hpp"
#include "tests/report/builders.hpp"

namespace forklift {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

/// `text_report` breaks lines where it likes.
std::string on_one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("\n ", at)) != std::string::npos; ++at) {
    text.replace(at, std::min(text.find_first_not_of("\n ", at), text.size()) - at, " ");
  }
  return text;
}

RunReport report_of(ModelReport model) {
  RunReport report = testing::a_report_with_notes();
  report.model = std::move(model);
  return report;
}

ModelReport large_model() {
  ModelReport model;
  model.path = "/models/bert.safetensors";
  model.bytes = 1000 * mebibyte;
  model.tensors = 199;
  model.mapped_by = "file";
  return model;
}

std::string text_of(const ModelReport& model) { return on_one_line(text_report(report_of(model), TextStyle::plain)); }

TEST(ModelLine, NothingWasMeasured_SaysOnlyThatItIsThereOnce) {
  const std::string text = text_of(large_model());
  EXPECT_NE(text.find("/models/bert.safetensors is in memory once"), std::string::npos) << text;
  EXPECT_EQ(text.find("together"), std::string::npos) << text;
}

TEST(ModelLine, SharingSavedMemory_SaysWhatCopiesWouldHaveTaken) {
  ModelReport model = large_model();
  model.pss_bytes = 1100 * mebibyte;
  model.pss_replicas = 4;
  const std::string text = text_of(model);
  EXPECT_NE(text.find("4 replicas held "), std::string::npos) << text;
  EXPECT_NE(text.find("copies of their own would take "), std::string::npos) << text;
}

TEST(ModelLine, ModelIsSmallBesideTheProcesses_ClaimsNoSaving) {
  ModelReport model = large_model();
  model.bytes = mebibyte;
  model.pss_bytes = 40 * mebibyte;
  model.pss_replicas = 4;
  EXPECT_EQ(text_of(model).find("together"), std::string::npos);
}

TEST(ModelLine, Json_ReadsBack) {
  ModelReport model = large_model();
  model.pss_bytes = 1100 * mebibyte;
  model.pss_replicas = 4;
  const auto read = parse_report(json_report(report_of(model)));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(read.value().model);
  EXPECT_EQ(read.value().model->pss_bytes, model.pss_bytes);
  EXPECT_EQ(read.value().model->bytes, model.bytes);
}

}  // namespace
}  // namespace forklift
