// For any bytes: events.jsonl gives a report that can be written, or a sentence.
#pragma once

#include <string_view>

#include "launcher/report/event_log.hpp"
#include "launcher/report/report_format.hpp"
#include "tests/fuzz/promise.hpp"

namespace forklift::fuzz {

inline void check_event_log(std::string_view bytes) {
  const Result<RunReport> report = rebuild_report(bytes, "/runs/x");
  if (!report) {
    promise(report.error().message.find("/runs/x/events.jsonl") != std::string::npos, "an error names the file");
    return;
  }
  promise(parse_report(json_report(report.value())).ok(), "a rebuilt report can be written and read");
  promise(!report.value().notes.empty(), "a rebuilt report says that it is one");
}

}  // namespace forklift::fuzz
