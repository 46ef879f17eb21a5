// Amounts of memory in words.
#pragma once

#include <cstdint>
#include <string>

namespace forklift {

/// "512 B", "1.5 KiB", "7.8 GiB".
std::string format_bytes(std::uint64_t bytes);

}  // namespace forklift
