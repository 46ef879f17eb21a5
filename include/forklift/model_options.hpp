// How a model is opened: what may be done with it, and where it lies.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/tensor_view.hpp"

namespace forklift {

/// Groups of two names or more, as weight_tying.hpp has them.
using NameGroups = std::vector<std::vector<std::string>>;

/// Where the bytes are that every replica sees.
enum class ModelLoading : std::uint8_t {
  map,   ///< In the user's file, mapped: no copy, no time, no memory beside the page cache. The file must not be
         ///< overwritten in place while the model is in use; a new one renamed over it does no harm.
  copy,  ///< In memory, filled once and then sealed: the file may change or vanish. Costs its size and its loading.
};

/// Pages of 2 MiB make the first touch of a copy many times faster and need no page tables; only root, or who has
/// CAP_SYS_ADMIN, may have them. Such a copy cannot be sealed: others get a descriptor that only reads.
enum class HugePages : std::uint8_t {
  automatic,  ///< For copies of 1 GiB and more, where permitted.
  never,
  always,  ///< An error where they are not permitted.
};

/// Whether all pages are mapped before open() returns, or each at its first touch.
enum class Prefault : std::uint8_t { no, yes };

/// How far a copy is.
struct CopyProgress {
  std::uint64_t copied_bytes = 0;
  std::uint64_t total_bytes = 0;
  double seconds = 0;  ///< Since the copy began.
};

/// Called by the thread that opens the model: about ten times a second while it copies, and once at the end.
using CopyObserver = std::function<void(const CopyProgress&)>;

/// An observer that keeps one line on the terminal, "forklift: bert.safetensors: 3.1 of 8.0 GiB, 2.9 GiB/s", for copies
/// that take more than a second. It writes nothing if stderr is no terminal.
CopyObserver progress_line(std::string_view title);

struct ModelOptions {
  ModelAccess access = ModelAccess::read;  ///< `shared` always copies: the user's file is never written.
  ModelLoading loading = ModelLoading::map;
  Prefault prefault = Prefault::no;
  HugePages huge_pages = HugePages::automatic;
  /// A folder on a tmpfs (such as /dev/shm, or one mounted with huge=always) that a copy is made in, in the place of a
  /// memfd; the copy has no name there and goes with its last user. Empty: a memfd, or huge pages.
  std::string copy_folder = {};
  /// Names that are one storage where the file itself does not say so. Of each group the file has at least one name;
  /// those that it lacks stand for the first that it has.
  NameGroups tied = {};
  CopyObserver observer = {};
};

}  // namespace forklift
