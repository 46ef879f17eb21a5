// The policy's values as short words, so that a table of expectations can be read and a failure shows what happened.
#pragma once

#include <string>

#include "launcher/policy/event.hpp"
#include "launcher/policy/group_state.hpp"

namespace forklift::policy {

std::string signal_word(int signal);
std::string to_text(Phase phase);
std::string to_text(const Action& action);
/// "CancelStart, StopReplicas TERM"; "-" for no action.
std::string to_text(const Actions& actions);
std::string to_text(const Event& event);

}  // namespace forklift::policy
