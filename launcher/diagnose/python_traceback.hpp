// Finds what Python printed when it failed: the last traceback, whole, or faulthandler's report of a crash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "worker/format/exception_line.hpp"

namespace forklift {

/// An exception that left a Python program.
struct PythonFailure {
  ExceptionLine exception;  ///< The last exception of the chain: the one that ended the program.
  std::string traceback;    ///< Whole, with every exception of the chain, as Python printed it; no trailing newline.
};

/// The last traceback in `text` (plain text, see plain_text()): chained exceptions belong to it, a "[rank3]: " in front
/// of its lines is removed, and tracebacks that Python only mentions ("Exception ignored in", "Logging error") do not
/// count. A SyntaxError, which has no "Traceback" line, is found too. Empty if there is none.
std::optional<PythonFailure> find_python_failure(std::string_view text);

/// faulthandler's report of a crash, from the last line "Fatal Python error: …" to the last frame. Empty if there is
/// none.
std::string find_fatal_python_error(std::string_view text);

}  // namespace forklift
