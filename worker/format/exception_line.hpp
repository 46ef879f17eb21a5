// The line that ends a Python traceback: "ValueError: bad batch" → its type and its text.
#pragma once

#include <string>
#include <string_view>

namespace forklift {

struct ExceptionLine {
  std::string type;     ///< As printed, e.g. "torch.cuda.OutOfMemoryError"; empty if the line names no type.
  std::string message;  ///< What follows the colon; may hold several lines; may be empty.
  friend bool operator==(const ExceptionLine&, const ExceptionLine&) = default;
};

/// Splits "Type: text" and "Type". Text that does not begin with a dotted Python name is all message.
ExceptionLine split_exception_line(std::string_view text);

/// "Type: text", "Type" or "text": the way Python prints it.
std::string exception_headline(const ExceptionLine& exception);

}  // namespace forklift
