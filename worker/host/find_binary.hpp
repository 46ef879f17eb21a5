// Where the forklift binary is that belongs to this library.
#pragma once

#include <string>

#include "forklift/result.hpp"

namespace forklift {

/// `asked`, else $FORKLIFT_BINARY, else the one installed with this library, else the first in PATH. not_found names
/// all places that were looked at.
Result<std::string> find_forklift_binary(const std::string& asked);

}  // namespace forklift
