#include "launcher/supervise/descendants.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/system/process_table.hpp"
#include "launcher/system/reap.hpp"

namespace forklift {
namespace {

// A zombie of ours counts until it is reaped, for which its SIGCHLD is on its way: the next attempt must not find the
// pid of the last one's daemon taken. Those of others are theirs to reap.
std::vector<ProcessEntry> only_living(std::vector<ProcessEntry> processes) {
  std::erase_if(processes, [self = ::getpid()](const ProcessEntry& process) {
    return process.state == 'X' || (process.state == 'Z' && process.parent != self);
  });
  return processes;
}

using Spared = std::set<ProcessIdentity>;

bool is_spared(const Spared& spared, int pid) {
  return std::ranges::any_of(spared, [pid](const ProcessIdentity& one) { return one.pid == pid; });
}

// Orphans come to us: without children that count there are no descendants that do. The usual end of a job, without a
// walk.
bool nobody_is_left(const Spared& spared) {
  if (!has_children()) return true;
  if (spared.empty()) return false;
  const auto children = listed_children();
  return children && std::ranges::all_of(*children, [&](int pid) { return is_spared(spared, pid); });
}

std::vector<ProcessEntry> living_descendants(const Spared& spared) {
  if (nobody_is_left(spared)) return {};
  const std::vector<ProcessEntry> table = read_process_table();
  std::set<int> left_out;
  for (const ProcessIdentity& one : spared) {
    left_out.insert(one.pid);
    for (const ProcessEntry& entry : descendants_of(one.pid, table)) left_out.insert(entry.pid);
  }
  auto living = only_living(descendants_of(::getpid(), table));
  std::erase_if(living, [&](const ProcessEntry& entry) { return left_out.contains(entry.pid); });
  return living;
}

std::vector<ProcessEntry> ask_to_end(std::vector<ProcessEntry> processes) {
  for (const ProcessEntry& process : processes) {
    ::kill(process.pid, SIGTERM);
    ::kill(process.pid, SIGCONT);
  }
  return processes;
}

std::vector<ProcessEntry> living_after(policy::SweepHow how, const Spared& spared) {
  switch (how) {
    case policy::SweepHow::look:
      return living_descendants(spared);
    case policy::SweepHow::politely:
      return ask_to_end(living_descendants(spared));
    case policy::SweepHow::kill:
      return nobody_is_left(spared) ? std::vector<ProcessEntry>{} : only_living(kill_descendants(spared));
  }
  return {};
}

}  // namespace

std::vector<int> Descendants::reap_strangers(const std::function<bool(pid_t)>& take_replica) {
  std::vector<int> reaped;
  for (pid_t ended = 0; (ended = peek_ended_child()) > 0;) {
    if (take_replica(ended)) continue;
    if (!reap_stranger(ended)) break;
    reaped.push_back(ended);
  }
  return reaped;
}

void Descendants::spare(pid_t child) {
  spared_.clear();
  if (const auto identity = child == 0 ? std::nullopt : identity_of(child)) spared_.insert(*identity);
}

int Descendants::sweep(policy::SweepHow how) { return static_cast<int>(living_after(how, spared_).size()); }

std::vector<Leftover> Descendants::name() const {
  std::vector<Leftover> named;
  for (const ProcessEntry& process : living_descendants(spared_)) {
    if (process.state == 'Z') continue;
    named.push_back({process.pid, command_of(process.pid),
                     process.state == 'D' ? "is stuck in the kernel (state D)"
                                          : "was still running when the replicas had ended, and was ended"});
  }
  return named;
}

}  // namespace forklift
