// The elements of a strided tensor in row-major order.
#pragma once

#include <cstdint>

#include "worker/format/source_layout.hpp"

namespace forklift::weights {

/// Writes them to `destination` at `offset`; 0 or an errno.
int pack(const CheckedTensor& tensor, int destination, std::uint64_t offset);

}  // namespace forklift::weights
