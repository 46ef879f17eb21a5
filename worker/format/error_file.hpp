// torchelastic's error file (TORCHELASTIC_ERROR_FILE): what a main function decorated with @record leaves behind.
//
// Two forms exist: {"message": {"message", "extraInfo": {"py_callstack", "timestamp"}, "errorCode"?}} and the plain
// {"message": "text", "timestamp": number}. A timestamp is whole Unix seconds, as a number or as a string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "worker/format/exception_line.hpp"

namespace forklift {

struct ErrorFile {
  ExceptionLine exception;                  ///< Never empty in both parts.
  std::string traceback;                    ///< Whole; empty in the plain form.
  std::optional<std::int64_t> timestamp_s;  ///< Unix seconds; empty if absent or not a number.
  std::optional<int> error_code;            ///< Present when an agent copied the file of its child.
};

/// Reads either form. Empty for anything else: a half-written, foreign or garbage file tells nothing and is no error,
/// since the replica that wrote it was dying.
std::optional<ErrorFile> parse_error_file(std::string_view json);

/// The first form, as torch's own handler writes it. `message` is the exception's line ("ValueError: bad batch");
/// invalid UTF-8 is mended.
std::string write_error_file(std::string_view message, std::string_view traceback, std::int64_t timestamp_s);

}  // namespace forklift
