// All that a supervised run needs beside its plan, gathered before the guard forks.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <optional>
#include <string>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/plan.hpp"
#include "forklift/request.hpp"
#include "forklift/shared_model.hpp"
#include "launcher/supervise/clock.hpp"

namespace forklift {

/// What a host program (a notebook) hands to the supervisor of its job.
struct HostSeat {
  int socket = -1;         ///< To the host: results and the end go there, stop requests come from there.
  pid_t template_pid = 0;  ///< A fork of the host that waits at its fork point; a child of the supervisor.
  int template_control = -1;
};

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
  RunClock clock;                    ///< Started first thing in main().
  std::string started;               ///< Wall clock of the launch, RFC 3339.
  std::optional<ModelHandle> model;  ///< Open and checked, not mapped; its descriptors are inherited by the replicas.
  std::optional<HostSeat> host;      ///< Empty in the command line.
  rlimit open_files{};               ///< The limit forklift was started with; replicas get it back.
};

}  // namespace forklift
