// What the policy is told once, before the first attempt.
#pragma once

#include <chrono>

#include "forklift/request.hpp"

namespace forklift::policy {

/// Who chose the job's ports: only ports that forklift found are worth another try on EADDRINUSE.
enum class PortChoice { found, given };

/// What the machine is told once.
struct GroupRules {
  int replicas = 1;  ///< Replicas on this node, ≥ 1.
  int nodes = 1;     ///< > 1: no restart and no EADDRINUSE retry, since the other nodes would not take part in it.
  StopRules stop;
  RestartRules restart;
  TimeRules time;
  Duration judge_wait = std::chrono::milliseconds(200);  ///< How long a stop request may lag behind its victim's death.
  Duration stranger_grace = std::chrono::seconds(5);     ///< For what a successful job left running, before SIGKILL.
  PortChoice ports = PortChoice::found;
};

}  // namespace forklift::policy
