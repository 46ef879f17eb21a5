// Every state of the machine that behaves in its own way, with the script that leads there; and every kind of event.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launcher/policy/event.hpp"
#include "tests/policy/scripted_group.hpp"

namespace forklift::policy {

struct NamedState {
  std::string name;
  ScriptedGroup group;
};

/// Two replicas on one node, one restart, no time limit.
std::vector<NamedState> every_state();

/// What a test hands to a state: an event now, or the clock moved to just before or onto the state's deadline.
struct NamedStep {
  std::string name;
  std::string (*take)(ScriptedGroup&);
};

std::vector<NamedStep> every_step();

}  // namespace forklift::policy
