// The name under which a process is listed. The supervisor must not share one with its guard: `pkill -9 forklift` is to
// hit only one of the two.
#pragma once

#include <string_view>

namespace forklift {

/// Remembers where the kernel shows the command line from. Call once, in main(). The words must have been copied before
/// set_process_title is called.
void remember_command_line(int argc, char** argv);

/// comm (15 bytes) and command line. Without remember_command_line only comm.
void set_process_title(std::string_view title);

}  // namespace forklift
