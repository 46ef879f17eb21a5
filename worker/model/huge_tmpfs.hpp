// Shared memory in pages of 2 MiB, from a tmpfs of our own that is mounted nowhere.
#pragma once

#include <cstdint>

#include "forklift/result.hpp"
#include "worker/descriptor.hpp"

namespace forklift::weights {

/// An empty, nameless file for at most `length` bytes, readable and writable. Needs CAP_SYS_ADMIN (root, or a user
/// namespace with its own mounts) and Linux 5.2; else an error that says so. The file system goes with the file.
Result<Descriptor> make_huge_file(std::uint64_t length);

}  // namespace forklift::weights
