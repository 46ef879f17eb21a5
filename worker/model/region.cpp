#include "worker/model/region.hpp"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "worker/format/byte_text.hpp"
#include "worker/format/quoted.hpp"

namespace forklift::weights {
namespace {

/// The limit that may have refused a mapping with ENOMEM.
std::string limits_text() {
  std::string text;
  const auto add = [&](int resource, const char* name) {
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    text += fmt::format("; {} is {}", name, format_bytes(limit.rlim_cur));
  };
  add(RLIMIT_AS, "the limit of address space (ulimit -v)");
  add(RLIMIT_DATA, "the limit of private memory (ulimit -d)");
  return text;
}

Error refused(const ModelPart& part, int os_errno) {
  std::string message = fmt::format("cannot map the {} of {}: {}", format_bytes(part.identity.length),
                                    part.path.empty() ? "the model" : in_quotes(part.path), std::strerror(os_errno));
  if (os_errno == ENOMEM) message += limits_text();
  if (os_errno == ENODEV || os_errno == EACCES) {
    message += "; this file system does not map files: open the model with ModelLoading::copy";
  }
  return {ErrorKind::system, std::move(message), os_errno};
}

}  // namespace

Region::Region(Region&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Region& Region::operator=(Region&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Region::~Region() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Result<Region> Region::map(const ModelPart& part, ModelAccess access) {
  Region region;
  if (part.identity.length == 0) return region;
  const int protection = access == ModelAccess::read ? PROT_READ : PROT_READ | PROT_WRITE;
  // No reservation: of a private mapping only what is written will ever need memory of its own.
  const int sharing = access == ModelAccess::copy_on_write ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED;
  void* const address = ::mmap(nullptr, part.identity.length, protection, sharing, part.descriptor, 0);
  if (address == MAP_FAILED) return refused(part, errno);
  region.data_ = static_cast<std::byte*>(address);
  region.size_ = part.identity.length;
  // A core dump of a replica would hold the whole model otherwise.
  ::madvise(address, region.size_, MADV_DONTDUMP);
  if (part.kind == PartKind::huge_tmpfs) ::madvise(address, region.size_, MADV_HUGEPAGE);
  return region;
}

}  // namespace forklift::weights
