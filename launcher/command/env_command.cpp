// `forklift env`: what forklift sees of this machine; as JSON a file for --host-facts.
#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "forklift/version.hpp"
#include "launcher/command/verbs.hpp"
#include "launcher/plan/host_facts_json.hpp"
#include "launcher/request/format_option.hpp"
#include "launcher/request/help.hpp"
#include "launcher/system/host_facts_reader.hpp"

namespace forklift::command {
namespace {

std::string gibibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0));
}

std::string host_facts_text(const HostFacts& facts) {
  std::set<int> nodes;
  for (const CpuCore& core : facts.cores) nodes.insert(core.numa_node);
  std::string text = fmt::format("forklift       {}\nhost           {}\nkernel         {}\n", forklift::version,
                                 facts.hostname, facts.kernel);
  text += fmt::format("cpus           {} usable on {} cores, {} NUMA node{}\n", usable_cpus(facts), facts.cores.size(),
                      nodes.size(), nodes.size() == 1 ? "" : "s");
  if (facts.cpu_quota) text += fmt::format("cpu quota      {:.2f} cpus (cgroup)\n", *facts.cpu_quota);
  text += fmt::format("memory         {} available of {}\n", gibibytes(facts.memory_available_bytes),
                      gibibytes(facts.memory_total_bytes));
  if (facts.memory_limit_bytes) {
    text += fmt::format("memory limit   {} (cgroup)", gibibytes(*facts.memory_limit_bytes));
    if (facts.memory_limit_room_bytes)
      text += fmt::format(", which leaves {}", gibibytes(*facts.memory_limit_room_bytes));
    text += '\n';
  }
  text +=
      fmt::format("/dev/shm       {} free of {}\n", gibibytes(facts.shm_free_bytes), gibibytes(facts.shm_total_bytes));
  text += fmt::format("open files     {}\n", facts.open_files_limit);
  text += fmt::format("accelerators   {}\n", facts.accelerators.empty() ? "none" : "");
  for (const Accelerator& chip : facts.accelerators)
    text += fmt::format("               {} at {}\n", chip.kind, chip.address);
  for (const auto& [name, state] : facts.capabilities) text += fmt::format("{:<14} {}\n", name, state);
  return text;
}

}  // namespace

int env(const Call& call) {
  if (asks_for_help(call.words)) {
    std::fputs(env_help().c_str(), stdout);
    return 0;
  }
  const auto asked = take_format("env", call.words);
  if (!asked) return fail(asked.error());
  if (!asked.value().rest.empty()) {
    return fail(
        {ErrorKind::usage, "env: unknown option " + asked.value().rest.front() + ", expected --format text|json"});
  }
  const bool json = asked.value().format == OutputFormat::json;
  HostFacts facts = read_host_facts();
  facts.capabilities = read_capabilities();
  std::fputs(json ? host_facts_to_json(facts).c_str() : host_facts_text(facts).c_str(), stdout);
  return 0;
}

}  // namespace forklift::command
