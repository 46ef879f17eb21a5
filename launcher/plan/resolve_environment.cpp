// A plan's environment for one replica of one attempt.
#include <map>
#include <string_view>

#include "forklift/plan.hpp"
#include "launcher/plan/merged_environment.hpp"
#include "launcher/plan/placeholders.hpp"

namespace forklift {
namespace {

std::map<std::string_view, int> ports_by_name(const Plan& plan, const std::vector<int>& reserved) {
  std::map<std::string_view, int> ports;
  for (std::size_t index = 0; index < plan.ports.size(); ++index) {
    ports[plan.ports[index].name] = index < reserved.size() ? reserved[index] : plan.ports[index].port;
  }
  return ports;
}

std::vector<EnvironmentVariable> resolved(std::vector<EnvironmentVariable> variables, const Plan& plan,
                                          const AttemptValues& values) {
  const auto ports = ports_by_name(plan, values.ports);
  const PlaceholderLookup lookup = [&](std::string_view name) -> std::optional<std::string> {
    if (name == "attempt") return std::to_string(values.attempt.value);
    if (name == "run_dir") return values.run_directory;
    constexpr std::string_view port_names = "port.";
    if (!name.starts_with(port_names)) return std::nullopt;
    const auto found = ports.find(name.substr(port_names.size()));
    if (found == ports.end()) return std::nullopt;
    return std::to_string(found->second);
  };
  for (EnvironmentVariable& variable : variables) {
    if (variable.value.find("${") != std::string::npos) variable.value = replace_placeholders(variable.value, lookup);
  }
  return variables;
}

}  // namespace

std::vector<EnvironmentVariable> resolve_environment(const Plan& plan, const ReplicaPlan& replica,
                                                     const AttemptValues& values) {
  return resolved(merged_environment(plan, replica), plan, values);
}

std::vector<EnvironmentVariable> group_environment(const Plan& plan, const AttemptValues& values) {
  return resolved(plan.environment, plan, values);
}

std::vector<EnvironmentVariable> own_environment(const Plan& plan, const ReplicaPlan& replica,
                                                 const AttemptValues& values) {
  return resolved(replica.environment, plan, values);
}

}  // namespace forklift
