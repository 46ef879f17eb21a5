// The sentences about N copies of what each replica loads: before the start, while they grow, after the end.
#pragma once

#include <cstdint>
#include <string>

namespace forklift {

/// What helps when each of several replicas holds its own copy: "hold it once instead of 4 times: …".
std::string copies_remedy(int replicas);

/// Replicas that grow alike towards the end of what there is.
struct GrowingCopies {
  int replicas = 0;
  std::uint64_t smallest = 0;  ///< Of what each replica holds for itself, in bytes.
  std::uint64_t largest = 0;
  std::uint64_t together = 0;
  std::uint64_t available = 0;          ///< What is left for them.
  std::uint64_t growth_per_second = 0;  ///< Of all together.
};

/// "4 replicas hold 2.1 GiB each, 8.4 GiB together, and grow by 1.3 GiB a second: the 3.9 GiB that are left last for
/// about 3 s. …"
std::string growing_copies_sentence(const GrowingCopies& copies);

/// "2.1 GiB each" or "1.8 GiB to 2.1 GiB each".
std::string each_of(std::uint64_t smallest, std::uint64_t largest);

}  // namespace forklift
