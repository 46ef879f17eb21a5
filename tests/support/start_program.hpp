// The start of a program for process_runner.hpp: descriptors, environment, fork, exec. Shares no code with forklift's
// own start, which it serves to test.
#pragma once

#include <sys/types.h>

#include "tests/support/process_runner.hpp"
#include "worker/descriptor.hpp"

namespace forklift::support {

struct StartedProgram {
  pid_t pid = -1;
  Descriptor input;  ///< Our end, if it reads from a pipe.
  Descriptor out;    ///< Our end; of a terminal, all that it shows.
  Descriptor err;    ///< Our end; closed for a terminal.
};

/// Ends the test program if the machine refuses. A program that cannot be executed exits with 127 after a sentence.
StartedProgram start_program(const Command& command);

}  // namespace forklift::support
