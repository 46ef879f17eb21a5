// What the kernel says of the memory of this process.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace forklift::support {

/// One field (in bytes) of the mapping that holds an address, by /proc/self/smaps; 0 if there is none.
inline std::uint64_t mapping_bytes(const void* address, const std::string& field) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream file("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (const auto dash = first.find('-'); dash != std::string::npos && first.back() != ':') {
      const auto begin = std::stoull(first.substr(0, dash), nullptr, 16);
      inside = wanted >= begin && wanted < std::stoull(first.substr(dash + 1), nullptr, 16);
    } else if (inside && first == field + ":") {
      std::uint64_t kibibytes = 0;
      words >> kibibytes;
      return kibibytes * 1024;
    }
  }
  return 0;
}

/// Whether any mapping is of a file whose path contains `part`.
inline bool is_mapped(const std::string& part) {
  std::ifstream file("/proc/self/maps");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str().find(part) != std::string::npos;
}

}  // namespace forklift::support
