#include "worker/model/store.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "worker/format/byte_text.hpp"
#include "worker/format/quoted.hpp"
#include "worker/model/file_io.hpp"
#include "worker/model/huge_tmpfs.hpp"
#include "worker/model/memory_room.hpp"

namespace forklift::weights {
namespace {

constexpr std::uint64_t smallest_huge_copy = std::uint64_t{1} << 30U;
constexpr std::uint32_t tmpfs_magic = 0x01021994;

#ifndef MFD_NOEXEC_SEAL
constexpr unsigned MFD_NOEXEC_SEAL = 8U;  // Linux 6.3
#endif

Error no_memfd(int os_errno) {
  const char* reason = os_errno == ENOSYS ? "this kernel has no memfd_create (Linux 3.17)"
                       : os_errno == EPERM || os_errno == EACCES
                           ? "memfd_create is denied, by a seccomp filter or a security module"
                           : std::strerror(os_errno);
  return {
      ErrorKind::system,
      fmt::format("no shared memory for the model: {}; map its file (ModelLoading::map), or name a folder on a tmpfs "
                  "for the copy (ModelOptions::copy_folder)",
                  reason),
      os_errno};
}

Result<Descriptor> new_memfd(const char* name) {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int number = ::memfd_create(name, flags | MFD_NOEXEC_SEAL);
  if (number < 0 && errno == EINVAL) number = ::memfd_create(name, flags);
  if (number < 0) return no_memfd(errno);
  return Descriptor(number);
}

// Beyond it ftruncate would not fail but send SIGXFSZ.
Result<void> check_file_size_limit(std::uint64_t length, const std::string& what) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= length) return {};
  return Error{
      ErrorKind::system,
      fmt::format("{} needs {}, but the limit of file sizes (ulimit -f), which counts for shared memory too, is {}",
                  what, format_bytes(length), format_bytes(limit.rlim_cur))};
}

Result<void> check_free_space(int folder, std::uint64_t length, const std::string& path, const std::string& what) {
  struct statfs space {};
  if (::fstatfs(folder, &space) != 0) return system_error("look at " + in_quotes(path), errno);
  if (static_cast<std::uint32_t>(space.f_type) != tmpfs_magic) {
    return Error{ErrorKind::usage,
                 fmt::format("{}: {} is no tmpfs, and a copy on a disk would be a second file", what, in_quotes(path))};
  }
  if (space.f_blocks == 0) return {};  // A tmpfs without a limit.
  const std::uint64_t free = static_cast<std::uint64_t>(space.f_bavail) * static_cast<std::uint64_t>(space.f_bsize);
  if (free >= length) return {};
  return Error{
      ErrorKind::system,
      fmt::format("{} needs {}, but {} has {} free: enlarge it (docker run --shm-size, mount -o remount,size=), or "
                  "leave ModelOptions::copy_folder empty",
                  what, format_bytes(length), in_quotes(path), format_bytes(free))};
}

Result<Store> make_in_folder(std::uint64_t length, const std::string& path, const std::string& what) {
  const Descriptor folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return system_error("open the folder " + in_quotes(path), errno);
  if (auto checked = check_free_space(folder.get(), length, path, what); !checked) return checked.error();
  Descriptor file(::openat(folder.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid()) return system_error("make a file in " + in_quotes(path), errno);
  return Store{std::move(file), PartKind::tmpfs, length};
}

Result<Store> make_huge_or_memfd(std::uint64_t length, HugePages huge) {
  const bool try_huge = huge == HugePages::always || (huge == HugePages::automatic && length >= smallest_huge_copy);
  if (try_huge) {
    auto file = make_huge_file(length);
    if (file) return Store{std::move(file).value(), PartKind::huge_tmpfs, length};
    if (huge == HugePages::always) return file.error();
  }
  auto memfd = new_memfd("forklift-model");
  if (!memfd) return memfd.error();
  return Store{std::move(memfd).value(), PartKind::memfd, length};
}

/// What may still be done with a region. The size is fixed in any case: a shrinking region is a SIGBUS for others.
int seals_for(ModelAccess access) {
  constexpr int size = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  return access == ModelAccess::shared ? size : size | F_SEAL_WRITE;
}

}  // namespace

Result<Store> make_store(std::uint64_t length, const ModelOptions& options, const std::string& what) {
  if (auto checked = check_file_size_limit(length, what); !checked) return checked.error();
  if (auto checked = check_room(length, read_memory_room(), what); !checked) return checked.error();
  auto store = options.copy_folder.empty() ? make_huge_or_memfd(length, options.huge_pages)
                                           : make_in_folder(length, options.copy_folder, what);
  if (!store) return store.error();
  if (::ftruncate(store.value().descriptor.get(), static_cast<off_t>(length)) != 0) {
    return system_error(fmt::format("make {} of shared memory", format_bytes(length)), errno);
  }
  return store;
}

Result<FinishedStore> finish_store(Store store, ModelAccess access) {
  Descriptor descriptor = std::move(store.descriptor);
  if (store.kind == PartKind::memfd) {
    if (::fcntl(descriptor.get(), F_ADD_SEALS, seals_for(access)) != 0) return system_error("seal the model", errno);
  } else if (access != ModelAccess::shared) {
    ::fchmod(descriptor.get(), S_IRUSR);  // Nobody but root opens it for writing again.
    auto reader = reopen_read_only(descriptor.get());
    if (!reader) return reader.error();
    descriptor = std::move(reader).value();
  }
  const auto identity = identity_of(descriptor.get(), store.kind);
  if (!identity) return identity.error();
  ModelPart part{store.kind, "", identity.value(), descriptor.get()};
  return FinishedStore{std::move(descriptor), std::move(part)};
}

Result<Descriptor> sealed_memfd(const char* name, std::string_view bytes) {
  auto memfd = new_memfd(name);
  if (!memfd) return memfd.error();
  const int number = memfd.value().get();
  const Transferred written = write_at(number, bytes.data(), bytes.size(), 0);
  if (written.bytes != bytes.size()) return system_error("write the manifest of the model", written.os_errno);
  if (::fcntl(number, F_ADD_SEALS, seals_for(ModelAccess::read)) != 0) {
    return system_error("seal the manifest of the model", errno);
  }
  return memfd;
}

}  // namespace forklift::weights
