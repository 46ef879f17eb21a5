#include "launcher/diagnose/memory_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "worker/format/byte_text.hpp"

namespace forklift {

std::string copies_remedy(int replicas) {
  return fmt::format(
      "hold it once instead of {} times (--model PATH, or load it before the fork point), or start fewer replicas",
      replicas);
}

std::string each_of(std::uint64_t smallest, std::uint64_t largest) {
  const std::string low = format_bytes(smallest);
  const std::string high = format_bytes(largest);
  return low == high ? fmt::format("{} each", high) : fmt::format("{} to {} each", low, high);
}

std::string growing_copies_sentence(const GrowingCopies& copies) {
  const std::uint64_t pace = std::max<std::uint64_t>(copies.growth_per_second, 1);
  const std::uint64_t seconds = copies.available / pace + (copies.available % pace >= pace - pace / 2 ? 1 : 0);
  return fmt::format(
      "{} replicas hold {}, {} together, and grow by {} a second: the {} that are left last for about {} s. If each "
      "loads "
      "its own copy of the model, {}.",
      copies.replicas, each_of(copies.smallest, copies.largest), format_bytes(copies.together),
      format_bytes(copies.growth_per_second), format_bytes(copies.available), std::max<std::uint64_t>(seconds, 1),
      copies_remedy(copies.replicas));
}

}  // namespace forklift
