// a_request(): a launch of `train.py` on a small host, to be varied in one line.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forklift/plan.hpp"

namespace forklift {

/// `cores` cores on `numa_nodes` nodes in equal shares, `threads` CPUs each, numbered as Linux does: siblings are
/// `cores` apart.
inline HostFacts a_host(int cores = 4, int numa_nodes = 1, int threads = 1) {
  HostFacts host;
  host.hostname = "testhost";
  for (int core = 0; core < cores; ++core) {
    CpuCore facts;
    for (int thread = 0; thread < threads; ++thread) facts.cpus.push_back(core + thread * cores);
    facts.numa_node = core * numa_nodes / cores;
    host.cores.push_back(facts);
  }
  return host;
}

class RequestBuilder {
 public:
  RequestBuilder() { request.program = "train.py"; }

  RequestBuilder& in_total(int count) { return request.processes = ProcessesInTotal{count}, *this; }
  RequestBuilder& per_node(int count) { return request.processes = ProcessesPerNode{count}, *this; }
  RequestBuilder& counted_by(CountedBy by) { return request.processes = ProcessesPerNodeCounted{by}, *this; }
  RequestBuilder& dialect(Dialect dialect) { return request.dialect = dialect, *this; }
  RequestBuilder& framework(Framework framework) { return request.framework = framework, *this; }
  RequestBuilder& cpu_only() { return request.device = DeviceChoice::cpu, *this; }
  RequestBuilder& binding(CpuBinding binding) { return request.cpu_binding = binding, *this; }
  RequestBuilder& machines(int count, int rank, std::string ip = "10.0.0.1") {
    request.num_machines = count;
    request.machine_rank = NodeRank{rank};
    request.main_process_ip = std::move(ip);
    return *this;
  }
  RequestBuilder& port(int number) { return request.main_process_port = number, *this; }
  RequestBuilder& env(std::string name, std::string value) {
    request.extra_environment.push_back({std::move(name), std::move(value)});
    return *this;
  }
  RequestBuilder& exported(const std::string& name, std::string value) {
    return environment[name] = std::move(value), *this;
  }
  RequestBuilder& on(HostFacts facts) { return host = std::move(facts), *this; }
  RequestBuilder& accelerators(const std::string& kind, int count, const std::vector<int>& numa_nodes = {}) {
    for (int index = 0; index < count; ++index) {
      const auto at = static_cast<std::size_t>(index);
      host.accelerators.push_back(
          {kind, "device" + std::to_string(index), at < numa_nodes.size() ? numa_nodes[at] : -1});
    }
    return *this;
  }
  RequestBuilder& file(ProgramFile found) { return program = found, *this; }
  RequestBuilder& terminal(Terminals which) { return terminals = which, *this; }

  [[nodiscard]] Result<Plan> plan() const {
    return make_plan(request, {host, environment, program, run_id, terminals});
  }

  /// The plan of a request that must have one.
  [[nodiscard]] Plan planned() const {
    Result<Plan> result = plan();
    if (!result) {
      ADD_FAILURE() << "no plan: " << result.error().message;
      return Plan{};
    }
    return std::move(result).value();
  }

  /// The sentence of a request that must have no plan.
  [[nodiscard]] std::string refused() const {
    const Result<Plan> result = plan();
    return result ? "a plan was made" : result.error().message;
  }

  LaunchRequest request;
  HostFacts host = a_host();
  Environment environment;
  ProgramFile program = ProgramFile::executable;
  std::string run_id = "20260101-120000-abcdef";
  Terminals terminals = Terminals::none;
};

inline RequestBuilder a_request() { return {}; }

/// What forklift sets for a local replica, in the first attempt, with ports 40000, 40001, …
inline std::map<std::string, std::string> environment_of(const Plan& plan, std::size_t local_rank = 0) {
  AttemptValues values;
  values.run_directory = "/run/job";
  for (std::size_t index = 0; index < plan.ports.size(); ++index) {
    values.ports.push_back(plan.ports[index].port != 0 ? plan.ports[index].port : 40000 + static_cast<int>(index));
  }
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : resolve_environment(plan, plan.replicas.at(local_rank), values))
    environment[name] = value;
  return environment;
}

/// A variable's value, or "(unset)" where the replica will not have it, or "(inherited)".
inline std::string value_in(const Plan& plan, const std::string& name, std::size_t local_rank = 0) {
  const auto environment = environment_of(plan, local_rank);
  if (const auto found = environment.find(name); found != environment.end()) return found->second;
  for (const std::string& unset : plan.unset) {
    if (unset == name) return "(unset)";
  }
  return "(inherited)";
}

inline bool warns_of(const Plan& plan, const std::string& words) {
  for (const std::string& warning : plan.warnings) {
    if (warning.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace forklift
