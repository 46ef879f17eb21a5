#include "launcher/supervise/model_variable.hpp"

#include <algorithm>
#include <functional>

namespace forklift {

void add_model_variable(const RunInputs& inputs, std::vector<EnvironmentVariable>& variables) {
  if (!inputs.model) return;
  const std::string name = ModelHandle::environment_name;
  const auto place = std::ranges::lower_bound(variables, name, std::less<>{}, &EnvironmentVariable::name);
  variables.insert(place, {name, inputs.model->environment_value()});
}

}  // namespace forklift
