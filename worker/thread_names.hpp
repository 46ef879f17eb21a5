// The threads of the calling process, as the kernel lists them.
#pragma once

#include <string>
#include <vector>

namespace forklift {

/// The names of all threads but the calling one, in the order of their ids. Empty where /proc cannot be read.
std::vector<std::string> names_of_other_threads();

}  // namespace forklift
