// Finds PROGRAM and PYTHON before anything is started.
#pragma once

#include <string>

#include "forklift/environment.hpp"
#include "forklift/plan.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// What PROGRAM is: looked up as a path if it contains '/', else in the working directory for a `.py`, else in PATH,
/// else in the working directory (a non-executable script given by its bare name).
ProgramFile look_at_program(const std::string& program, const Environment& environment);

/// The absolute or relative path that execve gets for argv[0]: itself if it contains '/', else the first executable in
/// PATH. Errors: not_found ("no file named X in PATH"), not_executable.
Result<std::string> find_executable(const std::string& name, const Environment& environment);

}  // namespace forklift
