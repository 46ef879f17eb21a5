#include "launcher/plan/streams.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

bool includes(Streams mask, Streams stream) { return (static_cast<int>(mask) & static_cast<int>(stream)) != 0; }

Result<void> check_local_rank(const WorldShape& world, const char* option, LocalRank rank) {
  if (rank.value >= 0 && rank.value < world.local_world_size) return {};
  return Error{ErrorKind::usage,
               fmt::format("{}: there is no local rank {}; this node has {} (0 to {})", option, rank.value,
                           counted(world.local_world_size, "replica"), world.local_world_size - 1)};
}

Result<void> check_local_ranks(const LaunchRequest& request, const WorldShape& world) {
  for (const auto& [rank, streams] : request.redirects.by_local_rank) {
    if (const auto checked = check_local_rank(world, "--redirects", rank); !checked) return checked.error();
  }
  for (const auto& [rank, streams] : request.tee.by_local_rank) {
    if (const auto checked = check_local_rank(world, "--tee", rank); !checked) return checked.error();
  }
  for (const LocalRank rank : request.console_ranks) {
    if (const auto checked = check_local_rank(world, "--local-ranks-filter", rank); !checked) return checked.error();
  }
  return {};
}

/// Where a stream goes without a terminal. A stream in both masks is teed, as in torchrun; one that is teed but
/// filtered from the console needs no copy through the launcher.
StreamRoute route_of(const LaunchRequest& request, LocalRank rank, Streams stream) {
  const auto& shown = request.console_ranks;
  const bool on_console = shown.empty() || std::find(shown.begin(), shown.end(), rank) != shown.end();
  if (includes(request.tee.of(rank), stream)) return on_console ? StreamRoute::console_and_file : StreamRoute::file;
  if (includes(request.redirects.of(rank), stream)) return StreamRoute::file;
  return on_console ? StreamRoute::console : StreamRoute::kept_only;
}

/// A world of 1 on a terminal is simply that program: no pipes, no prefix, unless the user asked for any of them.
bool interactive_by_default(const LaunchRequest& request, const WorldShape& world, Terminals terminals,
                            const ReplicaStreams& only) {
  return world.world_size == 1 && terminals == Terminals::all && request.prefix_template.value_or("").empty() &&
         only.standard_output == StreamRoute::console && only.standard_error == StreamRoute::console;
}

Result<void> choose_interactive_rank(const LaunchRequest& request, const WorldShape& world, Terminals terminals,
                                     StreamsPlan& plan) {
  if (!request.interactive_rank) {
    if (interactive_by_default(request, world, terminals, plan.replicas.front())) plan.interactive_rank = Rank{0};
    return {};
  }
  const Rank rank = *request.interactive_rank;
  if (rank.value < 0 || rank.value >= world.world_size) {
    return Error{ErrorKind::usage,
                 fmt::format("--interactive-rank {}: there is no such rank in a world of {} (0 to {})", rank.value,
                             world.world_size, world.world_size - 1)};
  }
  if (!local_rank_of(world, rank)) return {};
  if (terminals != Terminals::all) {
    plan.warnings.push_back(
        fmt::format("--interactive-rank {} has no effect: stdin, stdout and stderr are not all terminals", rank.value));
    return {};
  }
  plan.interactive_rank = rank;
  return {};
}

/// What goes to a file by the user's wish stays there.
void give_terminal(ReplicaStreams& streams) {
  streams.standard_input = StdinRoute::inherited;
  for (StreamRoute* route : {&streams.standard_output, &streams.standard_error}) {
    if (*route == StreamRoute::console || *route == StreamRoute::kept_only) *route = StreamRoute::terminal;
  }
}

void choose_prefix(const LaunchRequest& request, const WorldShape& world, StreamsPlan& plan) {
  if (request.prefix_template) {
    plan.prefix_template = *request.prefix_template;
    return;
  }
  plan.prefix_template = world.world_size > 1 ? "[${rank}] " : "";
  plan.prefix_origin = "default";
}

}  // namespace

Result<StreamsPlan> plan_streams(const LaunchRequest& request, const WorldShape& world, Terminals terminals) {
  const auto checked = check_local_ranks(request, world);
  if (!checked) return checked.error();
  StreamsPlan plan;
  for (int local = 0; local < world.local_world_size; ++local) {
    const LocalRank rank{local};
    plan.replicas.push_back({StdinRoute::null_device, route_of(request, rank, Streams::standard_output),
                             route_of(request, rank, Streams::standard_error)});
  }
  const auto chosen = choose_interactive_rank(request, world, terminals, plan);
  if (!chosen) return chosen.error();
  if (plan.interactive_rank) give_terminal(plan.replicas[local_rank_of(world, *plan.interactive_rank)->index()]);
  // `producer | forklift launch …`: the pipe is rank 0's. A terminal is nobody's but the interactive rank's.
  if (const auto zero = local_rank_of(world, Rank{0}); zero && terminals == Terminals::none) {
    plan.replicas[zero->index()].standard_input = StdinRoute::inherited;
  }
  choose_prefix(request, world, plan);
  return plan;
}

}  // namespace forklift
