// Whether a run still goes on: its supervisor holds a lock on events.jsonl for as long as it lives.
//
// A record lock (fcntl), not flock: it belongs to the process and not to the descriptor, so that no fork or exec can
// inherit it; the kernel drops it with the process, however that ends; its holder can be asked for, so that no pid in a
// file can be taken for another process; and it holds across the machines of a shared home directory.
#pragma once

#include <filesystem>

#include "launcher/report/event_log.hpp"

namespace forklift {

/// Locks the open events.jsonl until this process ends, or closes any descriptor of that file. A file system without
/// locks is no error: the run then cannot be told from one that was killed.
void hold_run_lock(int events_file);

/// Looks at the lock of the run in `directory`.
RunHolder holder_of_run(const std::filesystem::path& directory);

}  // namespace forklift
