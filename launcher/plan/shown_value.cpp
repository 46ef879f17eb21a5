#include "launcher/plan/shown_value.hpp"

#include <algorithm>

#include "launcher/plan/placeholders.hpp"

namespace forklift {

std::string shown_value(const Plan& plan, std::string_view value) {
  return replace_placeholders(value, [&](std::string_view name) -> std::optional<std::string> {
    if (name == "attempt") return "0";
    const auto is_named = [&](const PortPlan& port) { return name == "port." + port.name; };
    const auto port = std::find_if(plan.ports.begin(), plan.ports.end(), is_named);
    if (port == plan.ports.end()) return std::nullopt;
    return port->port == 0 ? "auto" : std::to_string(port->port);
  });
}

const char* name_of(StartMethod method) {
  switch (method) {
    case StartMethod::from_template:
      return "template";
    case StartMethod::spawn:
      return "spawn";
  }
  return "spawn";
}

}  // namespace forklift
