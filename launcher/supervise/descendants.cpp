#include "launcher/supervise/descendants.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "launcher/system/process_table.hpp"
#include "launcher/system/reap.hpp"

namespace forklift {
namespace {

std::vector<ProcessEntry> only_living(std::vector<ProcessEntry> processes) {
  std::erase_if(processes, [](const ProcessEntry& process) { return process.state == 'Z' || process.state == 'X'; });
  return processes;
}

// Without children there are no descendants, since orphans come to us: the usual end of a job, without a walk.
std::vector<ProcessEntry> living_descendants() {
  return has_children() ? only_living(descendants_of(::getpid())) : std::vector<ProcessEntry>{};
}

std::vector<ProcessEntry> ask_to_end(std::vector<ProcessEntry> processes) {
  for (const ProcessEntry& process : processes) {
    ::kill(process.pid, SIGTERM);
    ::kill(process.pid, SIGCONT);
  }
  return processes;
}

std::vector<ProcessEntry> living_after(policy::SweepHow how) {
  switch (how) {
    case policy::SweepHow::look:
      return living_descendants();
    case policy::SweepHow::politely:
      return ask_to_end(living_descendants());
    case policy::SweepHow::kill:
      return has_children() ? only_living(kill_descendants()) : std::vector<ProcessEntry>{};
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

int Descendants::sweep(policy::SweepHow how) { return static_cast<int>(living_after(how).size()); }

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
