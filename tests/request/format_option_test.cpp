#include "launcher/request/format_option.hpp"

#include <gtest/gtest.h>

namespace forklift {
namespace {

using Words = std::vector<std::string>;

TEST(FormatOption, BothSpellings_AreTakenOutOfTheWords) {
  const struct {
    Words words;
    OutputFormat format;
    Words rest;
  } table[] = {
      {{}, OutputFormat::text, {}},
      {{"--format", "json"}, OutputFormat::json, {}},
      {{"--format=text"}, OutputFormat::text, {}},
      {{"a", "--format=json", "b", "--format", "text", "c"}, OutputFormat::text, {"a", "b", "c"}},
      {{"--formats=json"}, OutputFormat::text, {"--formats=json"}},
  };
  for (const auto& row : table) {
    const auto taken = take_format("env", row.words);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken.value().format, row.format);
    EXPECT_EQ(taken.value().rest, row.rest);
  }
}

TEST(FormatOption, WrongValues_AreNamed) {
  EXPECT_EQ(take_format("env", {"--format", "yaml"}).error().message,
            "env: --format: got 'yaml', expected text or json");
  EXPECT_EQ(take_format("report", {"--format="}).error().message, "report: --format: got '', expected text or json");
  EXPECT_EQ(take_format("env", {"--format"}).error().message, "env: --format needs a value, expected text or json");
}

}  // namespace
}  // namespace forklift
