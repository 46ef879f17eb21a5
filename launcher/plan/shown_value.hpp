// An environment value as a dry run shows it.
#pragma once

#include <string>
#include <string_view>

#include "forklift/plan.hpp"

namespace forklift {

/// ${attempt} → 0, ${port.NAME} → its number or `auto`; ${run_dir} stays.
std::string shown_value(const Plan& plan, std::string_view value);

const char* name_of(StartMethod method);

}  // namespace forklift
