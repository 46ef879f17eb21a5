// From the words of a command line to a LaunchRequest.
#pragma once

#include <string>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/request.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// `words` are those after `launch`; `environment` is the launcher's own, read for the defaults of torchrun's flags
/// (PET_*), PYTHON_EXEC, TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE and TORCH_ELASTIC_SHUTDOWN_TIMEOUT.
/// Command line over environment over defaults; of several times the same flag the last one counts.
/// Every error is of kind usage: one sentence that names the flag or variable, what was seen and what was expected.
/// Ask asks_for_help() (help.hpp) first: words that ask for the help text name no program.
Result<LaunchRequest> parse_launch(const std::vector<std::string>& words, const Environment& environment);

}  // namespace forklift
