// Whole reads and writes at a place of a descriptor, and what fstat knows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "forklift/result.hpp"
#include "worker/descriptor.hpp"
#include "worker/format/model_layout.hpp"

namespace forklift::weights {

/// How a transfer ended: all of it, or with an errno, or (of a read) at the end of the file.
struct Transferred {
  std::size_t bytes = 0;
  int os_errno = 0;
};

Transferred read_at(int descriptor, void* to, std::size_t length, std::uint64_t offset) noexcept;
Transferred write_at(int descriptor, const void* from, std::size_t length, std::uint64_t offset) noexcept;

/// "cannot WHAT: No space left on device", with the errno.
Error system_error(const std::string& what, int os_errno);

/// Identity of an open descriptor; modified_ns is 0 where `kind` is no file. Fails for a closed one.
Result<PartIdentity> identity_of(int descriptor, PartKind kind);

/// The same open file once more, for reading only: whoever gets it cannot write.
Result<Descriptor> reopen_read_only(int descriptor);

/// All bytes of a file that is not larger than `limit`.
Result<std::string> read_whole(int descriptor, std::uint64_t length, const std::string& path);

}  // namespace forklift::weights
