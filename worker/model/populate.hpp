// Mapping pages before they are touched.
#pragma once

#include <cstddef>

namespace forklift::weights {

/// Maps all pages of [data, data + size), for reading. Never ends the process: a page that cannot be had (a file that
/// has shrunk) is left to its first touch. Gives back whether all are mapped.
enum class Populated { all, some };
Populated populate(std::byte* data, std::size_t size) noexcept;

}  // namespace forklift::weights
