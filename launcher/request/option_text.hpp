// How a user's own words are shown in messages.
#pragma once

#include <string>
#include <string_view>

#include "forklift/result.hpp"

namespace forklift {

/// The word in quotation marks, on one line and short: control bytes as \xNN, a long word cut and marked.
std::string quoted(std::string_view word);

/// A wrong command line or environment (exit status 2).
inline Error usage_error(std::string message) { return {ErrorKind::usage, std::move(message)}; }

}  // namespace forklift
