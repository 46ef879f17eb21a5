// The prefix of a replica's lines, from torchrun's template macros and ours.
#pragma once

#include <string>
#include <string_view>

#include "forklift/ids.hpp"
#include "forklift/result.hpp"

namespace forklift {

struct PrefixValues {
  Rank rank;
  LocalRank local_rank;
  std::string role;
  std::string host;
};

/// Replaces ${rank}, ${local_rank}, ${role_name} (also ${role}) and ${host}. Any other ${name} stays as it is, as in
/// torchrun.
std::string expand_prefix(std::string_view prefix_template, const PrefixValues& values);

/// Wraps a prefix in the colour of its rank (a fixed palette), for terminals.
std::string colour_prefix(const std::string& prefix, Rank rank);

}  // namespace forklift
