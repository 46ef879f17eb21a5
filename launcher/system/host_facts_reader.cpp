#include "launcher/system/host_facts_reader.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>

#include "launcher/system/accelerators.hpp"
#include "launcher/system/cpu_topology.hpp"
#include "launcher/system/evidence_reader.hpp"
#include "worker/cgroup.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

void read_names(HostFacts& facts) {
  utsname names{};
  if (::uname(&names) != 0) return;
  facts.hostname = names.nodename;
  facts.kernel = names.release;
}

void read_memory(HostFacts& facts) {
  const std::string text = read_kernel_file("/proc/meminfo").value_or("");
  const auto bytes_of = [&text](std::string_view key) { return number_of_key(text, key).value_or(0) * 1024U; };
  facts.memory_total_bytes = bytes_of("MemTotal");
  facts.memory_available_bytes = bytes_of("MemAvailable");
}

void read_limits(HostFacts& facts) {
  const CgroupTables tables = read_cgroup_tables();
  if (const auto cpu = locate_cgroup(tables, "cpu")) facts.cpu_quota = cpu_quota(*cpu);
  if (const auto memory = locate_cgroup(tables, "memory")) {
    facts.memory_limit_bytes = memory_limit(*memory);
    facts.memory_limit_room_bytes = memory_room(*memory);
  }
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) facts.open_files_limit = files.rlim_max;
}

}  // namespace

HostFacts read_host_facts() {
  HostFacts facts;
  read_names(facts);
  facts.cores = read_cores(allowed_cpus());
  read_memory(facts);
  read_limits(facts);
  if (const auto shm = read_shared_memory()) {
    facts.shm_total_bytes = shm->total_bytes;
    facts.shm_free_bytes = shm->free_bytes;
  }
  facts.accelerators = read_accelerators();
  return facts;
}

}  // namespace forklift
