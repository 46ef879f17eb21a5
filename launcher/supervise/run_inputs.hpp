// All that a supervised run needs beside its plan, gathered before the guard forks.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/plan.hpp"
#include "forklift/request.hpp"
#include "launcher/supervise/clock.hpp"

namespace forklift {

struct RunInputs {
  Plan plan;
  Environment environment;  ///< What replicas inherit.
  std::string executable;   ///< The file that argv[0] of the replicas stands for.
  std::string run_directory;
  std::string hostname;
  std::string role;  ///< For the prefix.
  std::vector<std::string> command;
  Colour colour = Colour::automatic;
  Chatter chatter = Chatter::normal;
  RunClock clock;       ///< Started first thing in main().
  std::string started;  ///< Wall clock of the launch, RFC 3339.
  rlimit open_files{};  ///< The limit forklift was started with; replicas get it back.
};

}  // namespace forklift
