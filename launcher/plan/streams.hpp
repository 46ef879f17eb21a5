// Where each replica's standard streams go, and who has the terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forklift/plan.hpp"
#include "launcher/plan/ranks.hpp"

namespace forklift {

struct ReplicaStreams {
  StdinRoute standard_input = StdinRoute::null_device;
  StreamRoute standard_output = StreamRoute::console;
  StreamRoute standard_error = StreamRoute::console;
};

struct StreamsPlan {
  std::vector<ReplicaStreams> replicas;  ///< By local rank.
  std::optional<Rank> interactive_rank;  ///< Only if it is one of this node's.
  std::string prefix_template;
  std::string prefix_origin;
  std::vector<std::string> warnings;
};

/// Error (usage): an interactive rank outside the world, or a local rank that this node does not have in
/// `--redirects`, `--tee` or `--local-ranks-filter`.
Result<StreamsPlan> plan_streams(const LaunchRequest& request, const WorldShape& world, Terminals terminals);

}  // namespace forklift
