// How much memory a job may take on a machine.
#pragma once

#include <cstdint>
#include <optional>

#include "forklift/host_facts.hpp"

namespace forklift {

struct MemoryRoom {
  std::uint64_t bytes = 0;
  enum class Bound {
    machine,        ///< What the machine has available (MemAvailable).
    control_group,  ///< What the limit of a control group leaves, which is less.
  } bound = Bound::machine;
};

/// The smaller of what the machine has available and what the limits of its control groups leave. Empty: the facts do
/// not say.
std::optional<MemoryRoom> memory_room(const HostFacts& facts);

}  // namespace forklift
