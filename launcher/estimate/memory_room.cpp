#include "launcher/estimate/memory_room.hpp"

namespace forklift {

std::optional<MemoryRoom> memory_room(const HostFacts& facts) {
  const bool known = facts.memory_available_bytes != 0;
  const auto left = facts.memory_limit_room_bytes ? facts.memory_limit_room_bytes : facts.memory_limit_bytes;
  if (left && (!known || *left < facts.memory_available_bytes)) {
    return MemoryRoom{*left, MemoryRoom::Bound::control_group};
  }
  if (!known) return std::nullopt;
  return MemoryRoom{facts.memory_available_bytes, MemoryRoom::Bound::machine};
}

}  // namespace forklift
