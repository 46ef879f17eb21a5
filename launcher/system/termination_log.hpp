// Kubernetes shows the content of /dev/termination-log as the reason why a container ended.
#pragma once

#include <string_view>

namespace forklift {

/// Writes where the file exists and can be written; else does nothing.
void write_termination_log(std::string_view text);

}  // namespace forklift
