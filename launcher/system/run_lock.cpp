#include "launcher/system/run_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "launcher/system/process_table.hpp"
#include "worker/descriptor.hpp"

namespace forklift {
namespace {

/// The whole file, however long it grows.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// The supervisor ignores signals: the process that takes them is its parent, the guard.
int guard_of(int supervisor) {
  if (supervisor <= 0) return 0;  // Of another pid namespace (0) or another machine (negative).
  for (const ProcessEntry& entry : read_process_table()) {
    if (entry.pid == supervisor) return entry.parent;
  }
  return 0;
}

}  // namespace

void hold_run_lock(int events_file) {
  struct flock lock = whole_file();
  [[maybe_unused]] const int refused = ::fcntl(events_file, F_SETLK, &lock);
}

RunHolder holder_of_run(const std::filesystem::path& directory) {
  const Descriptor file(::open((directory / "events.jsonl").c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock = whole_file();
  if (!file.valid() || ::fcntl(file.get(), F_GETLK, &lock) != 0) return {RunLife::unknown, 0};
  if (lock.l_type == F_UNLCK) return {RunLife::ended, 0};
  return {RunLife::running, guard_of(lock.l_pid)};
}

}  // namespace forklift
