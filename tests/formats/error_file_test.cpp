#include "worker/format/error_file.hpp"

#include <gtest/gtest.h>

namespace forklift {
namespace {

TEST(ErrorFile, RecordForm_GivesExceptionTracebackAndTimestamp) {
  const auto file = parse_error_file(R"({"message": {"message": "ValueError: bad batch",
      "extraInfo": {"py_callstack": "Traceback (most recent call last):\n  …\nValueError: bad batch\n",
                    "timestamp": "1718000000"}}})");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->exception, (ExceptionLine{"ValueError", "bad batch"}));
  EXPECT_EQ(file->traceback, "Traceback (most recent call last):\n  …\nValueError: bad batch\n");
  EXPECT_EQ(file->timestamp_s, 1718000000);
  EXPECT_EQ(file->error_code, std::nullopt);
}

TEST(ErrorFile, PlainForm_GivesExceptionAndTimestamp) {
  const auto file = parse_error_file(R"({"message": "RuntimeError: no", "timestamp": 1718000001})");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->exception, (ExceptionLine{"RuntimeError", "no"}));
  EXPECT_EQ(file->timestamp_s, 1718000001);
  EXPECT_EQ(file->traceback, "");
}

TEST(ErrorFile, CopiedByAnAgent_HasTheErrorCode) {
  const auto file = parse_error_file(R"({"message": {"message": "x", "errorCode": 3, "extraInfo": {}}})");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->error_code, 3);
}

TEST(ErrorFile, EveryFormOfTimestamp_IsReadOrLeftOut) {
  const struct {
    const char* json;
    std::optional<std::int64_t> seconds;
  } table[] = {
      {"17", 17},
      {"17.9", 17},
      {R"("17")", 17},
      {R"("17.5")", 17},
      {R"("x")", {}},
      {R"("")", {}},
      {"null", {}},
      {"[1]", {}},
      {"1e300", {}},
      {"-3", -3},
      {"18446744073709551615", {}},
  };
  for (const auto& row : table) {
    const auto file = parse_error_file(std::string(R"({"message": "E: x", "timestamp": )") + row.json + "}");
    ASSERT_TRUE(file) << row.json;
    EXPECT_EQ(file->timestamp_s, row.seconds) << row.json;
  }
}

TEST(ErrorFile, Garbage_GivesNothing) {
  for (const char* garbage : {"", "{", "null", "[]", "3", "\"text\"", "{}", R"({"message": 3})", R"({"message": ""})",
                              R"({"message": {"message": 3}})", R"({"message": {"extraInfo": {"py_callstack": "x"}}})",
                              "{\"message\": \"\xFF\"}", R"({"message": "half)"}) {
    EXPECT_EQ(parse_error_file(garbage).has_value(), false) << garbage;
  }
}

TEST(ErrorFile, Written_ReadsBack) {
  const struct {
    const char* message;
    const char* traceback;
    ExceptionLine exception;
  } table[] = {
      {"ValueError: bad batch", "Traceback …\n  line\n", {"ValueError", "bad batch"}},
      {"no type here: \"quoted\"\nsecond line", "", {"", "no type here: \"quoted\"\nsecond line"}},
      {"OutOfMemory", "one line", {"OutOfMemory", ""}},
      {"E: half \xc3", "also \xff", {"E", "half \xEF\xBF\xBD"}},
  };
  for (const auto& row : table) {
    const auto file = parse_error_file(write_error_file(row.message, row.traceback, 1718000000));
    ASSERT_TRUE(file) << row.message;
    EXPECT_EQ(file->exception, row.exception);
    EXPECT_EQ(file->traceback, std::string_view(row.traceback) == "also \xff" ? "also \xEF\xBF\xBD" : row.traceback);
    EXPECT_EQ(file->timestamp_s, 1718000000);
    EXPECT_EQ(file->error_code, std::nullopt);
  }
}

TEST(ErrorFile, WrittenWithoutAnyWord_IsNone) {
  EXPECT_FALSE(parse_error_file(write_error_file("", "a traceback alone", 0)).has_value());
}

TEST(ErrorFile, DeepNesting_GivesNothing) { EXPECT_FALSE(parse_error_file(std::string(1 << 20, '[')).has_value()); }

TEST(ExceptionLine, EachShape_IsSplitAndPrintedAgain) {
  const struct {
    const char* text;
    ExceptionLine line;
  } table[] = {
      {"ValueError: bad batch", {"ValueError", "bad batch"}},
      {"KeyboardInterrupt", {"KeyboardInterrupt", ""}},
      {"torch.cuda.OutOfMemoryError: CUDA out of memory", {"torch.cuda.OutOfMemoryError", "CUDA out of memory"}},
      {"__main__.Broken: a\nb", {"__main__.Broken", "a\nb"}},
      {"main.<locals>.Broken: x", {"main.<locals>.Broken", "x"}},
      {"no type here: x", {"", "no type here: x"}},
      {"3: x", {"", "3: x"}},
      {"", {"", ""}},
  };
  for (const auto& row : table) {
    EXPECT_EQ(split_exception_line(row.text), row.line) << row.text;
    EXPECT_EQ(exception_headline(row.line), row.text);
  }
}

}  // namespace
}  // namespace forklift
