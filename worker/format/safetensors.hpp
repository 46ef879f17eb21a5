// The header of a safetensors file: which tensor lies where (safetensors: README.md, src/tensor.rs).
//
//     8 bytes: N, little-endian | N bytes: JSON {"name": {"dtype", "shape", "data_offsets": [begin, end]}, …} | data
//
// Offsets count from the end of the header. Every rule is checked, so that an accepted table can be trusted: sizes fit
// types and shapes, tensors follow each other from 0 without holes or overlaps, and the last one ends where the file
// does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/dtype.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// The longest header that the format allows, in bytes.
constexpr std::uint64_t longest_safetensors_header = 100'000'000;

/// Bytes in front of the header that hold its length.
constexpr std::size_t safetensors_length_bytes = 8;

struct SafetensorsEntry {
  std::string name;
  Dtype dtype = Dtype::u8;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  ///< In bytes from the beginning of the data.
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::uint64_t data_begin = 0;           ///< In bytes from the beginning of the file.
  std::vector<SafetensorsEntry> tensors;  ///< In the order in which they lie.
  std::map<std::string, std::string> metadata;
};

/// How long the header is, from the first 8 bytes of a file of `file_length` bytes (fewer, if it has fewer). `where`
/// names the file in errors.
Result<std::uint64_t> safetensors_header_length(std::string_view first_bytes, std::uint64_t file_length,
                                                std::string_view where);

/// Reads the header (the JSON, without its length).
Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t file_length,
                                                   std::string_view where);

}  // namespace forklift
