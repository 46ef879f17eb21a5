// The manifest of a model: a ModelLayout as bytes, in a memfd that executed programs inherit together with the parts.
// They map what it describes without a path and without reading the files again.
//
// It comes from a descriptor that an environment variable names, so it is read like any bytes from outside: what is
// accepted describes tensors that lie inside their parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/result.hpp"
#include "worker/format/model_layout.hpp"

namespace forklift {

/// Little-endian numbers, texts with their length in front; begins with a magic word that holds the version.
std::string encode_manifest(const ModelLayout& layout);

/// An error names what is wrong and the byte.
Result<ModelLayout> decode_manifest(std::string_view bytes);

/// What FORKLIFT_MODEL_FD says: "5" (the parts have the numbers of the manifest) or "5:6,7".
struct ModelDescriptors {
  int manifest = -1;
  std::vector<int> parts;  ///< Empty: those of the manifest.
  friend bool operator==(const ModelDescriptors&, const ModelDescriptors&) = default;
};

std::string descriptors_text(const ModelDescriptors& descriptors);

/// Empty for anything else.
std::optional<ModelDescriptors> parse_descriptors(std::string_view text);

}  // namespace forklift
