// How an executed process learns of the model that it inherits.
#pragma once

#include <vector>

#include "forklift/environment.hpp"
#include "launcher/supervise/run_inputs.hpp"

namespace forklift {

/// Adds FORKLIFT_MODEL_FD where there is a model. `variables` is sorted by name, and stays so.
void add_model_variable(const RunInputs& inputs, std::vector<EnvironmentVariable>& variables);

}  // namespace forklift
