// Memory that several processes can map: where copies of models live.
#pragma once

#include <cstdint>
#include <string>

#include "forklift/model_options.hpp"
#include "forklift/result.hpp"
#include "worker/descriptor.hpp"
#include "worker/format/model_layout.hpp"

namespace forklift::weights {

/// A region that is being filled, through its descriptor.
struct Store {
  Descriptor descriptor;
  PartKind kind = PartKind::memfd;
  std::uint64_t length = 0;
};

/// Makes a region of `length` bytes, all zero, after a look at every limit that could end in a SIGBUS, a SIGXFSZ or the
/// OOM killer later. `what` begins the sentences of errors: "a copy of 'bert.safetensors'".
Result<Store> make_store(std::uint64_t length, const ModelOptions& options, const std::string& what);

/// A filled region as the part of a model, and the descriptor to keep and to hand on. For reading and copying on write
/// nobody can change it any more: it is sealed or, where that cannot be, left with a descriptor that only reads.
struct FinishedStore {
  Descriptor descriptor;
  ModelPart part;
};
Result<FinishedStore> finish_store(Store store, ModelAccess access);

/// A sealed memfd with these bytes. `name` is what /proc shows.
Result<Descriptor> sealed_memfd(const char* name, std::string_view bytes);

}  // namespace forklift::weights
