#include "launcher/plan/wording.hpp"

#include <fmt/format.h>

namespace forklift {

std::string counted(long long count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  return fmt::format("{} {}{}", count, noun, noun.ends_with('s') ? "es" : "s");
}

std::string origin_of(const LaunchRequest& request, const std::string& option, std::string fallback) {
  const auto found = request.origins.find(option);
  return found == request.origins.end() ? std::move(fallback) : found->second;
}

bool was_given(const LaunchRequest& request, const std::string& option) {
  const auto found = request.origins.find(option);
  return found != request.origins.end() && !found->second.starts_with("default");
}

}  // namespace forklift
