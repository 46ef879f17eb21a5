// Bytes of files or of memory into a store, by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "forklift/model_options.hpp"
#include "forklift/result.hpp"

namespace forklift::weights {

/// One run of bytes: from a descriptor or, if that is -1, from memory.
struct FillRun {
  int source = -1;
  std::uint64_t source_offset = 0;
  const std::byte* memory = nullptr;
  std::uint64_t destination = 0;
  std::uint64_t length = 0;
};

/// Why a fill stopped.
struct FillFailure {
  enum class Side { source_ended, source, destination };
  std::size_t run = 0;
  Side side = Side::source;
  int os_errno = 0;  ///< 0 if the source ended.
};

/// Fills; blocks. At most four threads, no more than there are cores, none for less than some MiB. They are joined
/// before it returns, and map nothing: a process that only fills does not grow, and a source that shrinks is an error
/// and no SIGBUS. `observer` is called by this thread.
std::optional<FillFailure> fill(int destination, const std::vector<FillRun>& runs, const CopyObserver& observer);

}  // namespace forklift::weights
