#include "launcher/plan/host_facts_json.hpp"

#include <nlohmann/json.hpp>

namespace forklift {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json cores_json(const std::vector<CpuCore>& cores) {
  Json list = Json::array();
  for (const CpuCore& core : cores) list.push_back({{"cpus", core.cpus}, {"numa_node", core.numa_node}});
  return list;
}

Json accelerators_json(const std::vector<Accelerator>& accelerators) {
  Json list = Json::array();
  for (const Accelerator& accelerator : accelerators) {
    list.push_back(
        {{"kind", accelerator.kind}, {"address", accelerator.address}, {"numa_node", accelerator.numa_node}});
  }
  return list;
}

}  // namespace

std::string host_facts_to_json(const HostFacts& facts) {
  const Json document = {{"version", 1},
                         {"hostname", facts.hostname},
                         {"kernel", facts.kernel},
                         {"cores", cores_json(facts.cores)},
                         {"cpu_quota", or_null(facts.cpu_quota)},
                         {"memory_total_bytes", facts.memory_total_bytes},
                         {"memory_available_bytes", facts.memory_available_bytes},
                         {"memory_limit_bytes", or_null(facts.memory_limit_bytes)},
                         {"memory_limit_room_bytes", or_null(facts.memory_limit_room_bytes)},
                         {"shm_total_bytes", facts.shm_total_bytes},
                         {"shm_free_bytes", facts.shm_free_bytes},
                         {"open_files_limit", facts.open_files_limit},
                         {"accelerators", accelerators_json(facts.accelerators)},
                         {"capabilities", facts.capabilities}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace forklift
