#include "launcher/plan/merged_environment.hpp"

#include <algorithm>
#include <iterator>

namespace forklift {
namespace {

bool by_name(const EnvironmentVariable& left, const EnvironmentVariable& right) { return left.name < right.name; }

}  // namespace

std::vector<EnvironmentVariable> merged_environment(const Plan& plan, const ReplicaPlan& replica) {
  std::vector<EnvironmentVariable> merged;
  merged.reserve(plan.environment.size() + replica.environment.size());
  // make_plan's lists are sorted, and a merge is what makes thousands of replicas cheap. The replica's own come first
  // among equals, and are kept.
  std::merge(replica.environment.begin(), replica.environment.end(), plan.environment.begin(), plan.environment.end(),
             std::back_inserter(merged), by_name);
  if (!std::is_sorted(merged.begin(), merged.end(), by_name)) std::stable_sort(merged.begin(), merged.end(), by_name);
  const auto same_name = [](const auto& left, const auto& right) { return left.name == right.name; };
  merged.erase(std::unique(merged.begin(), merged.end(), same_name), merged.end());
  return merged;
}

}  // namespace forklift
