// Which addresses belong to models: what a signal handler may know. It can neither lock nor allocate, so the table has
// a fixed number of places, and what they point to never changes while it stands there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "forklift/tensor_view.hpp"
#include "worker/format/model_layout.hpp"
#include "worker/model/region.hpp"

namespace forklift::weights {

/// One mapped part, in plain words.
struct FaultRegion {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  ModelAccess access = ModelAccess::read;
  PartKind kind = PartKind::file;
  const char* path = "";  ///< Of the part; of a copy that of the model; may be empty.
  int descriptor = -1;
  PartIdentity identity;                     ///< When it was opened.
  std::span<const TensorView> tensors = {};  ///< Of all parts.
};

/// Puts the regions of a model into the table for as long as it lives. A model that finds no place is simply not
/// explained (there are places for some thousand parts).
class FaultWatch {
 public:
  FaultWatch() = default;
  /// All that is given must outlive the watch, unmoved.
  FaultWatch(const ModelLayout& layout, const std::vector<Region>& regions, std::span<const TensorView> tensors,
             ModelAccess access);
  FaultWatch(FaultWatch&& other) noexcept = default;
  FaultWatch& operator=(FaultWatch&& other) noexcept;
  ~FaultWatch();

 private:
  void leave();
  std::vector<std::unique_ptr<const FaultRegion>> regions_;
};

/// The region that holds an address; nullptr if none does. Async-signal-safe.
const FaultRegion* find_fault_region(std::uintptr_t address) noexcept;

}  // namespace forklift::weights
