// The size of a model on disk.
#pragma once

#include <string>

#include "forklift/result.hpp"
#include "launcher/estimate/model_size.hpp"

namespace forklift {

/// Reads the headers of the model at `path`, not its weights. Errors: usage, with the path and what is wrong there.
Result<ModelSize> read_model_size(const std::string& path);

}  // namespace forklift
