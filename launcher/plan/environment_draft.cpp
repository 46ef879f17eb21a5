#include "launcher/plan/environment_draft.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace forklift {

EnvironmentDraft::EnvironmentDraft(const Environment& inherited, std::size_t replicas)
    : inherited_(inherited), replicas_(replicas) {}

void EnvironmentDraft::set(Claim claim, const std::string& name, std::string value, std::string origin) {
  set_each(claim, name, {std::move(value)}, std::move(origin));
}

void EnvironmentDraft::set_each(Claim claim, const std::string& name, std::vector<std::string> values,
                                std::string origin) {
  removed_.erase(name);
  removed_identity_.erase(name);
  if (const auto exported = inherited_.find(name); claim == Claim::suggested && exported != inherited_.end()) {
    settings_.erase(name);
    yielded_[name] = fmt::format("environment: {}={}", name, exported->second);
    return;
  }
  yielded_.erase(name);
  const bool all_equal =
      std::all_of(values.begin(), values.end(), [&](const auto& value) { return value == values.front(); });
  if (all_equal) values.resize(1);
  settings_[name] = {claim, std::move(values), std::move(origin)};
}

void EnvironmentDraft::remove(const std::string& name) {
  settings_.erase(name);
  yielded_.erase(name);
  removed_.insert(name);
}

void EnvironmentDraft::remove_identity(const std::string& name) {
  remove(name);
  removed_identity_.insert(name);
}

void EnvironmentDraft::override_with(const std::vector<EnvironmentVariable>& variables, const std::string& origin) {
  for (const EnvironmentVariable& variable : variables) {
    const auto planned = settings_.find(variable.name);
    if (planned != settings_.end() && planned->second.values.size() > 1) {
      warnings_.push_back(fmt::format("--env {}={} gives every replica the same value", variable.name, variable.value));
    }
    set(Claim::asked, variable.name, variable.value, origin);
  }
}

std::vector<std::string> EnvironmentDraft::leftovers() const {
  std::set<std::string> names;
  for (const auto& [name, setting] : settings_) {
    const auto inherited = inherited_.find(name);
    if (setting.claim != Claim::ours || inherited == inherited_.end()) continue;
    const bool same = setting.values.size() == 1 && setting.values.front() == inherited->second;
    if (!same) names.insert(name);
  }
  for (const std::string& name : removed_identity_) {
    if (inherited_.count(name) != 0) names.insert(name);
  }
  return {names.begin(), names.end()};
}

void EnvironmentDraft::move_into(Plan& plan) && {
  if (const auto names = leftovers(); !names.empty()) {
    plan.warnings.push_back(
        fmt::format("left over from an outer launcher and not passed on: {}", fmt::join(names, ", ")));
  }
  plan.warnings.insert(plan.warnings.end(), warnings_.begin(), warnings_.end());
  for (auto& [name, origin] : yielded_) plan.origins[name] = std::move(origin);
  for (auto& [name, setting] : settings_) {
    plan.origins[name] = std::move(setting.origin);
    if (setting.values.size() == 1) {
      plan.environment.push_back({name, std::move(setting.values.front())});
      continue;
    }
    for (std::size_t index = 0; index < std::min(replicas_, setting.values.size()); ++index) {
      plan.replicas[index].environment.push_back({name, std::move(setting.values[index])});
    }
  }
  plan.unset.assign(removed_.begin(), removed_.end());
}

}  // namespace forklift
