// The ways in which a file's bytes can be brought into shared memory, each as bare as it can be: what a copy of a model
// is measured against. Two threads (or as many as there are cores, at most four) take slices of 16 MiB in turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forklift::bench {

/// In which memory.
enum class Pages {
  small,  ///< A memfd.
  huge,   ///< A tmpfs with huge=always, mounted nowhere; only root may.
};

struct RawMethod {
  std::string name;
  /// Copies the first `length` bytes of an open file into fresh memory, which is gone afterwards. Gives back the
  /// seconds.
  double (*seconds)(int source, std::uint64_t length, Pages pages);
};

/// All of them.
const std::vector<RawMethod>& raw_methods();

/// Whether this process may have huge pages.
bool may_have_huge_pages();

}  // namespace forklift::bench
