// RunReport → the text that a tired person reads first, and the stable JSON of report.json; and JSON → RunReport.
#pragma once

#include <string>
#include <string_view>

#include "forklift/report.hpp"
#include "forklift/result.hpp"

namespace forklift {

enum class TextStyle { plain, coloured };

/// One sentence, the traceback or last lines of the culprit, the advice, then one line per other replica, folded by
/// kind, and one per earlier attempt. Empty for a run that succeeded at once and without notes. Ends in a newline
/// otherwise.
std::string text_report(const RunReport& report, TextStyle style);

/// report.json, `version` 1, indented by two, ends in a newline. Never fails: invalid UTF-8
/// was replaced before, and is replaced here too.
std::string json_report(const RunReport& report);

/// Reads what json_report wrote. Unknown keys are ignored; a missing or mistyped one is an error that names it.
Result<RunReport> parse_report(std::string_view json);

}  // namespace forklift
