#include <fmt/format.h>

#include <set>

#include "launcher/plan/host_facts_json.hpp"
#include "launcher/plan/json_fields.hpp"

namespace forklift {
namespace {

using nlohmann::json;

constexpr int largest_cpu = (1 << 20) - 1;
constexpr int largest_numa_node = (1 << 16) - 1;

std::string element(const std::string& list, std::size_t index) { return fmt::format("{}[{}]", list, index); }

void read_version(JsonFields& fields, JsonComplaint& complaint) {
  int version = 0;
  fields.read_integer("version", 1, 1, version);
  if (version == 0) complaint.add("version", "expected 1");
}

/// The CPUs of one core; `seen` holds those of the cores before it.
std::vector<int> read_cpus(const json& list, const std::string& place, std::set<int>& seen, JsonComplaint& complaint) {
  std::vector<int> cpus;
  if (list.empty()) complaint.add(place, list, "at least one CPU number");
  for (std::size_t index = 0; index < list.size(); ++index) {
    const json& value = list[index];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(largest_cpu)) {
      complaint.add(element(place, index), value, fmt::format("a CPU number from 0 to {}", largest_cpu));
      return cpus;
    }
    const int cpu = value.get<int>();
    if (!seen.insert(cpu).second) complaint.add(element(place, index), fmt::format("CPU {} is named twice", cpu));
    if (!cpus.empty() && cpu < cpus.back()) complaint.add(place, list, "CPU numbers in ascending order");
    cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<CpuCore> read_cores(const json& list, JsonComplaint& complaint) {
  std::vector<CpuCore> cores;
  std::set<int> seen;
  for (std::size_t index = 0; index < list.size(); ++index) {
    JsonFields fields(list[index], element("cores", index), complaint);
    CpuCore core;
    if (const json* cpus = fields.array("cpus")) {
      core.cpus = read_cpus(*cpus, fields.place_of("cpus"), seen, complaint);
    } else {
      complaint.add(fields.place_of("cpus"), "expected a list of CPU numbers");
    }
    fields.read_integer("numa_node", 0, largest_numa_node, core.numa_node);
    fields.finish();
    cores.push_back(std::move(core));
  }
  return cores;
}

std::vector<Accelerator> read_accelerators(const json& list, JsonComplaint& complaint) {
  static const std::set<std::string> kinds = {"cuda", "rocm", "xpu", "hpu", "npu", "tpu"};
  std::vector<Accelerator> accelerators;
  for (std::size_t index = 0; index < list.size(); ++index) {
    JsonFields fields(list[index], element("accelerators", index), complaint);
    Accelerator accelerator;
    fields.read("kind", accelerator.kind);
    if (kinds.count(accelerator.kind) == 0) {
      complaint.add(fields.place_of("kind"), json(accelerator.kind), "one of cuda, rocm, xpu, hpu, npu, tpu");
    }
    fields.read("address", accelerator.address);
    fields.read_integer("numa_node", -1, largest_numa_node, accelerator.numa_node);
    fields.finish();
    accelerators.push_back(std::move(accelerator));
  }
  return accelerators;
}

std::map<std::string, std::string> read_capabilities(const json& object, JsonComplaint& complaint) {
  std::map<std::string, std::string> capabilities;
  JsonFields fields(object, "capabilities", complaint);
  for (const auto& [name, value] : object.items()) fields.read(name.c_str(), capabilities[name]);
  return capabilities;
}

}  // namespace

Result<HostFacts> host_facts_from_json(std::string_view text) {
  const std::string document_name = "host facts";
  const auto document = parse_json(text, document_name);
  if (!document) return document.error();

  HostFacts facts;
  JsonComplaint complaint(document_name);
  JsonFields fields(document.value(), "", complaint);
  read_version(fields, complaint);
  fields.read("hostname", facts.hostname);
  fields.read("kernel", facts.kernel);
  if (const json* cores = fields.array("cores")) facts.cores = read_cores(*cores, complaint);
  fields.read_positive("cpu_quota", facts.cpu_quota);
  fields.read("memory_total_bytes", facts.memory_total_bytes);
  fields.read("memory_available_bytes", facts.memory_available_bytes);
  fields.read("memory_limit_bytes", facts.memory_limit_bytes);
  fields.read("memory_limit_room_bytes", facts.memory_limit_room_bytes);
  fields.read("shm_total_bytes", facts.shm_total_bytes);
  fields.read("shm_free_bytes", facts.shm_free_bytes);
  fields.read("open_files_limit", facts.open_files_limit);
  if (const json* list = fields.array("accelerators")) facts.accelerators = read_accelerators(*list, complaint);
  if (const json* object = fields.object("capabilities")) facts.capabilities = read_capabilities(*object, complaint);
  fields.finish();
  if (complaint.error()) return *complaint.error();
  return facts;
}

}  // namespace forklift
