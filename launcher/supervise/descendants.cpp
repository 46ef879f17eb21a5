#include "launcher/supervise/descendants.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "launcher/system/process_table.hpp"
#include "launcher/system/reap.hpp"

namespace forklift {
namespace {

std::vector<ProcessEntry> living_descendants() {
  if (!has_children()) return {};  // The usual end of a job, without a walk through /proc.
  auto all = descendants_of(::getpid());
  std::erase_if(all, [](const ProcessEntry& process) { return process.state == 'Z' || process.state == 'X'; });
  return all;
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

int Descendants::sweep(policy::SweepHow how) {
  const auto living = living_descendants();
  for (const ProcessEntry& process : living) {
    switch (how) {
      case policy::SweepHow::look:
        break;
      case policy::SweepHow::politely:
        ::kill(process.pid, SIGTERM);
        ::kill(process.pid, SIGCONT);
        break;
      case policy::SweepHow::kill:
        ::kill(process.pid, SIGKILL);
        break;
    }
  }
  return static_cast<int>(living.size());
}

std::vector<Leftover> Descendants::name() const {
  std::vector<Leftover> named;
  for (const ProcessEntry& process : living_descendants()) {
    named.push_back(
        {process.pid, command_of(process.pid),
         process.state == 'D' ? "is stuck in the kernel (state D)" : "was still running when the replicas had ended"});
  }
  return named;
}

}  // namespace forklift
