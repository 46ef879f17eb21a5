// For any bytes: report.json is refused with a sentence, or read; what was read is written and read again unchanged.
#pragma once

#include <string_view>

#include "launcher/report/report_format.hpp"
#include "tests/fuzz/promise.hpp"

namespace forklift::fuzz {

inline void check_report(std::string_view bytes) {
  const Result<RunReport> report = parse_report(bytes);
  if (!report) {
    promise(report.error().message.starts_with("report.json: "), "an error names the file");
    return;
  }
  const std::string json = json_report(report.value());
  const Result<RunReport> again = parse_report(json);
  promise(again.ok(), "what was written can be read");
  promise(json_report(again.value()) == json, "reading and writing change nothing");
  promise(text_report(again.value(), TextStyle::plain) == text_report(report.value(), TextStyle::plain),
          "the text is the same after reading again");
}

}  // namespace forklift::fuzz
