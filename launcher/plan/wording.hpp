// Small pieces of sentences, so that messages read the same everywhere.
#pragma once

#include <string>
#include <string_view>

#include "forklift/request.hpp"

namespace forklift {

/// "1 replica", "4 replicas", "2 processes".
std::string counted(long long count, std::string_view noun);

/// Where the value of an option came from, or `fallback` if the request does not say.
std::string origin_of(const LaunchRequest& request, const std::string& option, std::string fallback);

/// Whether the request says that an option's value came from somewhere else than the defaults.
bool was_given(const LaunchRequest& request, const std::string& option);

}  // namespace forklift
