// ModelLayout: what a model consists of, as data. Files are read into one, manifests carry one, a process maps one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forklift/model_options.hpp"
#include "forklift/tensor_view.hpp"

namespace forklift {

/// What the bytes of a part lie in.
enum class PartKind : std::uint8_t { file, memfd, tmpfs, huge_tmpfs };

/// By which a part is known again, whatever its descriptor's number is.
struct PartIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t length = 0;      ///< In bytes.
  std::int64_t modified_ns = 0;  ///< Of files: nanoseconds since 1970 when it was opened. Of other parts 0.
  friend bool operator==(const PartIdentity&, const PartIdentity&) = default;
};

/// One file, or one region of memory: one descriptor, one mapping.
struct ModelPart {
  PartKind kind = PartKind::file;
  std::string path;  ///< Absolute; empty if it is no file.
  PartIdentity identity;
  int descriptor = -1;  ///< Its number in the process that made the layout.
  friend bool operator==(const ModelPart&, const ModelPart&) = default;
};

/// One tensor, or one more name of a tensor.
struct ModelTensor {
  std::string name;  ///< Unique in the layout, UTF-8.
  Dtype dtype = Dtype::u8;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  ///< In elements; empty: row-major.
  std::uint32_t part = 0;
  std::uint64_t offset = 0;  ///< Of its first byte in the part.
  std::uint64_t bytes = 0;   ///< From its first element to the end of the last.
  friend bool operator==(const ModelTensor&, const ModelTensor&) = default;
};

struct ModelLayout {
  std::string path;  ///< What the user opened, absolute; empty if it was built.
  ModelAccess access = ModelAccess::read;
  std::vector<ModelPart> parts;
  std::vector<ModelTensor> tensors;
  friend bool operator==(const ModelLayout&, const ModelLayout&) = default;
};

/// Names that stand for one tensor: the same bytes, as many elements. Sorted within a group, groups by their first
/// name.
NameGroups tied_groups(const ModelLayout& layout);

/// Bytes of all tensors; what several share counts once.
std::uint64_t stored_bytes(const ModelLayout& layout);

/// "file", "memfd", "tmpfs" or "huge tmpfs".
std::string_view name_of(PartKind kind);

}  // namespace forklift
