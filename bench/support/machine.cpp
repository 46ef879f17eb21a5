#include "bench/support/machine.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

namespace forklift::bench {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

Machine this_machine() {
  Machine machine;
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) machine.cpus = CPU_COUNT(&usable);
  machine.cpu_model = cpu_model();
  utsname names{};
  if (::uname(&names) == 0) machine.kernel = names.release;
  struct sysinfo memory {};
  if (::sysinfo(&memory) == 0) machine.memory_bytes = std::uint64_t{memory.totalram} * memory.mem_unit;
  machine.date = now_in_utc();
  return machine;
}

}  // namespace forklift::bench
