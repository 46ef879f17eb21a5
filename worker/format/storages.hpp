// Which byte ranges are one storage, and where storages go when they are copied into one region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forklift {

/// The bytes of one tensor: a range of a file, or of memory.
struct ByteRange {
  std::uint32_t space = 0;  ///< Ranges of different spaces never share: the number of a part.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< Behind the last byte; not below `begin`.
  /// Not 0: ranges of one identity stay together where they touch as well.
  std::uint64_t identity = 0;
};

/// Ranges that share bytes, directly or through others.
struct Storage {
  std::uint32_t space = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<std::size_t> members;  ///< Indices of the ranges, by where they begin.
};

/// Ordered by space and beginning. Empty ranges are in none.
std::vector<Storage> find_storages(const std::vector<ByteRange>& ranges);

/// Addresses of storages in a region are divisible by this: a cache line, and more than any element needs.
constexpr std::uint64_t storage_alignment = 64;

/// The place for a storage in a region that is filled up to `end`: aligned, or, where members begin at different bytes,
/// with the alignment that its source had, so that none of them loses its own.
std::uint64_t place_behind(std::uint64_t end, const Storage& storage, const std::vector<ByteRange>& ranges);

}  // namespace forklift
