// What stands behind the handles of shared_model.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "forklift/shared_model.hpp"
#include "worker/descriptor.hpp"
#include "worker/format/model_aliases.hpp"
#include "worker/format/model_layout.hpp"
#include "worker/model/fault_table.hpp"
#include "worker/model/region.hpp"

namespace forklift::weights {

/// A checked model. The numbers in its layout are those of its parts' open descriptors.
struct Opened {
  ModelLayout layout;
  std::vector<Descriptor> owned;  ///< The same descriptors, unless they are inherited ones.
  std::vector<std::string> notes;
  std::uint64_t bytes = 0;  ///< stored_bytes() of the layout.
};

/// The same, in this process's memory. `opened` is never changed: views and names point into it.
struct Mapped {
  std::shared_ptr<const Opened> opened;
  std::vector<Region> regions;  ///< One a part.
  std::vector<TensorView> views;
  TensorNames names;
  ModelAccess access = ModelAccess::read;  ///< Of this mapping.
  FaultWatch watch;                        ///< Ends before the regions do.
};

/// The same, with its manifest in a memfd.
struct Shared {
  std::shared_ptr<const Opened> opened;
  Descriptor manifest;
};

/// Opens what the user named: checks, and copies if that is asked for. Maps nothing.
Result<std::shared_ptr<const Opened>> open_model(const std::string& path, const ModelOptions& options);

/// Maps all parts.
Result<std::shared_ptr<const Mapped>> map_model(std::shared_ptr<const Opened> opened, ModelAccess access,
                                                Prefault prefault);

/// Describes the parts by their manifest.
Result<std::shared_ptr<const Shared>> share_model(std::shared_ptr<const Opened> opened);

/// "file", "memfd", "tmpfs" or "huge tmpfs".
std::string_view mapped_by(const ModelLayout& layout);

/// What changed() says of the parts.
std::optional<std::string> changed(const ModelLayout& layout);

}  // namespace forklift::weights
