// safetensors files for tests, byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forklift::support {

/// The 8 bytes that give a header its length.
inline std::string length_bytes(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(static_cast<unsigned char>(length >> (8 * i) & 0xFFU)));
  return bytes;
}

/// A whole file: length, header as it is given, data.
inline std::string safetensors_file(std::string_view header, std::string_view data = {}) {
  return length_bytes(header.size()).append(header).append(data);
}

/// Data whose bytes tell their places: 0, 1, 2, …
inline std::string counting_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(static_cast<unsigned char>(i & 0xFFU));
  return bytes;
}

}  // namespace forklift::support
