// Limits and standard streams of the launcher itself.
#pragma once

#include <sys/resource.h>

#include <string>

namespace forklift {

/// Raises the soft limit of open files to the hard one (three descriptors per replica are needed) and returns what it
/// was, so that replicas get it back.
rlimit raise_open_files_limit();

/// Opens /dev/null on each of 0, 1, 2 that is closed, so that no pipe of ours ever becomes a standard stream.
void fill_standard_streams();

std::string own_hostname();

/// Why the machine refused, as the end of a sentence: the limit that the user can raise where there is one, else what
/// the error number means.
std::string explain_refusal(int os_errno);

}  // namespace forklift
