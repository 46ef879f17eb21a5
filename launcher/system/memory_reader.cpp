#include "launcher/system/memory_reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "worker/cgroup.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {

std::uint64_t read_usable_memory() {
  const std::string machine = read_kernel_file("/proc/meminfo").value_or("");
  const std::uint64_t available = number_of_key(machine, "MemAvailable").value_or(0) * 1024U;
  const auto memory = locate_cgroup(read_cgroup_tables(), "memory");
  const auto room = memory ? memory_room(*memory) : std::nullopt;
  return room ? std::min(available, *room) : available;
}

// "SIZE RESIDENT SHARED …" in pages, where SHARED are the resident pages of files and of shared memory.
std::optional<std::uint64_t> read_anonymous_memory(pid_t pid) {
  const auto text = read_kernel_file("/proc/" + std::to_string(pid) + "/statm");
  if (!text) return std::nullopt;
  std::string_view fields = *text;
  next_field(fields);
  const auto resident = parse_number(next_field(fields));
  const auto shared = parse_number(next_field(fields));
  if (!resident || !shared) return std::nullopt;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return (*resident - std::min(*resident, *shared)) * page;
}

}  // namespace forklift
