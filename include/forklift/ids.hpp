// Strong types for the numbers of a job: a local rank cannot be passed where a global one is meant.
#pragma once

#include <compare>
#include <cstddef>

namespace forklift {

template <class Tag>
struct Id {
  int value = 0;
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
};

using Rank = Id<struct RankTag>;            ///< Global rank of a replica, 0 … world_size-1.
using LocalRank = Id<struct LocalRankTag>;  ///< Rank of a replica on its node, 0 … local_world_size-1.
using NodeRank = Id<struct NodeRankTag>;    ///< Number of a node (machine), 0 … num_nodes-1.
using Attempt = Id<struct AttemptTag>;      ///< One try of the whole group; the first is 0.

/// Stands where a rank stands, for the process that replicas are forked from.
inline constexpr Rank template_rank{-1};

}  // namespace forklift
