// The placeholders in a plan's environment values: ${attempt}, ${run_dir}, ${port.NAME}.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace forklift {

constexpr std::string_view attempt_placeholder = "${attempt}";
constexpr std::string_view run_directory_placeholder = "${run_dir}";

/// "${port.NAME}"
std::string port_placeholder(std::string_view name);

/// Gives the value of a placeholder's inner name ("attempt", "port.master"), or nothing to leave it as it is.
using PlaceholderLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Replaces each ${name} once, left to right; what a value brings in is not looked at again.
std::string replace_placeholders(std::string_view text, const PlaceholderLookup& lookup);

}  // namespace forklift
