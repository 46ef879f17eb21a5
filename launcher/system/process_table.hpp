// Who descends from whom, from /proc; and ending them all.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace forklift {

struct ProcessEntry {
  int pid = 0;
  int parent = 0;
  char state = '?';              ///< 'Z' is a zombie, 'D' is stuck in the kernel.
  std::uint64_t start_time = 0;  ///< Clock ticks since boot; with pid it names a process for ever.
  std::string name;              ///< comm
  int group = 0;                 ///< Process group.
};

/// Every process that can be seen, in no order. One pass over /proc.
std::vector<ProcessEntry> read_process_table();

/// The entries that descend from `ancestor` (not itself), zombies included.
std::vector<ProcessEntry> descendants_of(int ancestor, const std::vector<ProcessEntry>& table);
std::vector<ProcessEntry> descendants_of(int ancestor);

/// The command line of a process, arguments joined by spaces, at most 200 bytes; its comm in brackets if it has none.
std::string command_of(int pid);

/// Resident memory of a process; 0 if it cannot be read.
std::uint64_t resident_bytes(int pid);

/// A child that we had before the job began, or that is not the job's: never signalled by end_descendants.
struct ProcessIdentity {
  int pid = 0;
  std::uint64_t start_time = 0;
  friend auto operator<=>(const ProcessIdentity&, const ProcessIdentity&) = default;
};
std::set<ProcessIdentity> children_of_self();
/// Empty if there is no such process, or it cannot be seen.
std::optional<ProcessIdentity> identity_of(int pid);

/// The pids of this process's children, zombies included, without a walk through /proc; empty where the kernel does not
/// list them.
std::optional<std::vector<int>> listed_children();

/// SIGKILLs every descendant of this process (a subreaper) except those in `spared` and their descendants, and reaps
/// them, until none is left or `timeout_ms` has passed. Returns those that are left (state 'D', or not ours to signal).
/// Blocks. Outruns processes that fork faster than they can be looked at.
std::vector<ProcessEntry> end_descendants(const std::set<ProcessIdentity>& spared, int timeout_ms);

/// One walk that SIGKILLs every descendant except those in `spared` and their descendants, and in one step each process
/// group that is all theirs. Reaps nobody, so it can be used beside a loop that does; to be repeated while they are not
/// gone. Returns those that were met, zombies included.
std::vector<ProcessEntry> kill_descendants(const std::set<ProcessIdentity>& spared);

}  // namespace forklift
