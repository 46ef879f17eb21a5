// accelerate's configuration file, which its own launcher reads without being told to.
#pragma once

#include <optional>
#include <string>

#include "forklift/environment.hpp"

namespace forklift {

/// default_config.yaml in $HF_HOME/accelerate, else $XDG_CACHE_HOME/huggingface/accelerate, else
/// ~/.cache/huggingface/accelerate; empty if there is none.
std::optional<std::string> accelerate_default_config(const Environment& environment);

}  // namespace forklift
