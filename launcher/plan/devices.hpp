// Which accelerators of this node the job may use, and how much of them each replica sees.
#pragma once

#include <string>
#include <vector>

#include "forklift/plan.hpp"

namespace forklift {

/// What a replica sees of the accelerators.
enum class DeviceSight {
  inherited,  ///< What the launcher sees; forklift sets nothing.
  list,       ///< All that `--gpu-ids` names: scripts choose theirs by LOCAL_RANK.
  one_each,   ///< Exactly one, which is then device 0 of the replica.
};

/// The accelerators that a job may use on this node. TPU chips are apart: one process drives all of a host's chips.
struct Devices {
  std::string kind;                 ///< As in Accelerator::kind; empty: none.
  std::string visibility_variable;  ///< The variable that narrows this kind, e.g. CUDA_VISIBLE_DEVICES.
  std::vector<std::string> ids;     ///< The usable ones, as that variable names them (a number or a UUID).
  std::vector<int> numa_nodes;      ///< Of each id; -1: unknown.
  int tpu_chips = 0;                ///< TPU chips of this host.
  DeviceSight sight = DeviceSight::inherited;
  std::string origin;  ///< Where `ids` came from.
  std::vector<std::string> warnings;

  [[nodiscard]] int count() const { return static_cast<int>(ids.size()); }
  [[nodiscard]] bool none() const { return ids.empty() && tpu_chips == 0; }
};

/// The accelerators left after `--cpu`, `--gpu-ids` and an exported visibility variable.
/// Error (usage): `--gpu-ids` is not a list of devices of this host; `--multi-gpu` where there is none to be used.
Result<Devices> usable_devices(const LaunchRequest& request, const HostFacts& host, const Environment& environment);

/// The device of each of `replicas` local replicas, for DeviceSight::one_each.
/// Error (usage): `--virtual-local-rank` with fewer devices than replicas.
Result<std::vector<std::string>> device_of_each(const LaunchRequest& request, Devices& devices, int replicas);

}  // namespace forklift
