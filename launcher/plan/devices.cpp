#include "launcher/plan/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

struct KindOfDevice {
  const char* kind;
  const char* visibility_variable;
};

/// In the order of preference where a host has several kinds: an integrated xpu comes last.
constexpr std::array<KindOfDevice, 5> kinds_of_device = {{
    {"cuda", "CUDA_VISIBLE_DEVICES"},
    {"rocm", "CUDA_VISIBLE_DEVICES"},  // HIP honours it, and it is what torch's own tools set
    {"npu", "ASCEND_RT_VISIBLE_DEVICES"},
    {"hpu", "HABANA_VISIBLE_MODULES"},
    {"xpu", "ZE_AFFINITY_MASK"},
}};

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> pieces;
  while (true) {
    const auto comma = text.find(',');
    std::string_view piece = text.substr(0, comma);
    while (piece.starts_with(' ')) piece.remove_prefix(1);
    while (piece.ends_with(' ')) piece.remove_suffix(1);
    pieces.emplace_back(piece);
    if (comma == std::string_view::npos) return pieces;
    text.remove_prefix(comma + 1);
  }
}

/// The number that an id is, or nothing if it is a name (a UUID, a MIG instance).
std::optional<long> number_of(const std::string& id) {
  long number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc{} || end != id.data() + id.size()) return std::nullopt;
  return number;
}

bool is_name(const std::string& id) { return id.starts_with("GPU-") || id.starts_with("MIG-"); }

/// The accelerators of the preferred kind that this host has.
std::vector<Accelerator> of_preferred_kind(const HostFacts& host, Devices& devices) {
  std::vector<Accelerator> found;
  devices.visibility_variable = kinds_of_device.front().visibility_variable;
  for (const KindOfDevice& candidate : kinds_of_device) {
    std::copy_if(host.accelerators.begin(), host.accelerators.end(), std::back_inserter(found),
                 [&](const Accelerator& accelerator) { return accelerator.kind == candidate.kind; });
    if (found.empty()) continue;
    devices.kind = candidate.kind;
    devices.visibility_variable = candidate.visibility_variable;
    break;
  }
  return found;
}

void take(const std::vector<std::string>& ids, const std::vector<Accelerator>& present, Devices& devices) {
  for (const std::string& id : ids) {
    const auto number = number_of(id);
    const bool known = number && *number >= 0 && *number < static_cast<long>(present.size());
    devices.ids.push_back(id);
    devices.numa_nodes.push_back(known ? present[static_cast<std::size_t>(*number)].numa_node : -1);
  }
}

/// The part of an exported list that the drivers honour: it ends at the first number that names no device.
std::vector<std::string> honoured_part(const std::string& exported, std::size_t present) {
  std::vector<std::string> ids = split_list(exported);
  const auto end = std::find_if(ids.begin(), ids.end(), [&](const std::string& id) {
    if (is_name(id)) return false;
    const auto number = number_of(id.substr(0, id.find('.')));  // ZE_AFFINITY_MASK may name tiles: 0.1
    return !number || *number < 0 || static_cast<std::size_t>(*number) >= present;
  });
  ids.erase(end, ids.end());
  return ids;
}

Result<void> check_ids(const std::string& text, const std::vector<std::string>& ids, std::size_t present,
                       const std::string& kind, const std::string& hostname) {
  for (const std::string& id : ids) {
    if (is_name(id)) continue;
    const auto number = number_of(id);
    if (!number || *number < 0) {
      return Error{
          ErrorKind::usage,
          fmt::format("--gpu-ids {}: '{}' is no device number; expected a comma-separated list, or 'all'", text, id)};
    }
    if (present > 0 && static_cast<std::size_t>(*number) >= present) {
      return Error{ErrorKind::usage,
                   fmt::format("--gpu-ids {}: there is no device {} on {}, which has {} (0 to {})", text, id, hostname,
                               counted(static_cast<long long>(present), kind + " accelerator"), present - 1)};
    }
    if (std::count(ids.begin(), ids.end(), id) > 1) {
      return Error{ErrorKind::usage, fmt::format("--gpu-ids {}: device {} is named twice", text, id)};
    }
  }
  return {};
}

}  // namespace

Result<Devices> usable_devices(const LaunchRequest& request, const HostFacts& host, const Environment& environment) {
  Devices devices;
  const bool names_devices = !request.gpu_ids.empty() && request.gpu_ids != "all";
  const std::vector<Accelerator> present = of_preferred_kind(host, devices);
  if (request.device == DeviceChoice::cpu) {
    devices.kind.clear();
    devices.origin = origin_of(request, "cpu", "--cpu");
    if (names_devices) devices.warnings.push_back("--gpu-ids has no effect together with --cpu");
    return devices;
  }
  devices.tpu_chips = static_cast<int>(
      std::count_if(host.accelerators.begin(), host.accelerators.end(), [](const auto& a) { return a.kind == "tpu"; }));

  if (names_devices) {
    const std::vector<std::string> ids = split_list(request.gpu_ids);
    const auto checked = check_ids(request.gpu_ids, ids, present.size(), devices.kind, host.hostname);
    if (!checked) return checked.error();
    take(ids, present, devices);
    devices.sight = DeviceSight::list;
    devices.origin = origin_of(request, "gpu-ids", "--gpu-ids");
    if (present.empty()) {
      return Error{ErrorKind::usage,
                   fmt::format("--gpu-ids {}: no GPU was found on {}; expected devices that `forklift env` shows, or "
                               "--cpu",
                               request.gpu_ids, host.hostname)};
    }
  } else if (const auto exported = environment.find(devices.visibility_variable);
             exported != environment.end() && !present.empty()) {
    take(honoured_part(exported->second, present.size()), present, devices);
    devices.origin = fmt::format("environment: {}={}", exported->first, exported->second);
  } else {
    for (std::size_t index = 0; index < present.size(); ++index) {
      devices.ids.push_back(std::to_string(index));
      devices.numa_nodes.push_back(present[index].numa_node);
    }
    devices.origin = "found on this host";
  }
  if (request.device == DeviceChoice::gpu && devices.ids.empty()) {
    const std::string why = present.empty() ? "" : fmt::format(" may be used ({})", devices.origin);
    return Error{ErrorKind::usage,
                 fmt::format("--multi-gpu: no GPU{} on {}; expected one that `forklift env` shows, or --cpu",
                             why.empty() ? " was found" : why, host.hostname)};
  }
  const bool one_each =
      request.device_visibility == DeviceVisibility::virtual_local_rank || request.framework == Framework::tensorflow;
  if (one_each && !devices.ids.empty()) devices.sight = DeviceSight::one_each;
  return devices;
}

Result<std::vector<std::string>> device_of_each(const LaunchRequest& request, Devices& devices, int replicas) {
  std::vector<std::string> each;
  const bool virtual_rank = request.device_visibility == DeviceVisibility::virtual_local_rank;
  if (devices.sight != DeviceSight::one_each) {
    if (virtual_rank) {
      devices.warnings.push_back(
          "--virtual-local-rank has no effect: no accelerator was found, LOCAL_RANK stays as it is");
    }
    return each;
  }
  if (devices.count() < replicas) {
    const std::string shortage =
        fmt::format("{} for {}", counted(devices.count(), devices.kind + " accelerator"), counted(replicas, "replica"));
    if (virtual_rank) {
      return Error{ErrorKind::usage,
                   fmt::format("--virtual-local-rank gives every replica a device of its own, but there "
                               "{} only {} on this node",
                               devices.count() == 1 ? "is" : "are", shortage)};
    }
    devices.warnings.push_back(fmt::format("{}: several replicas share a device", shortage));
  }
  for (int index = 0; index < replicas; ++index)
    each.push_back(devices.ids[static_cast<std::size_t>(index % devices.count())]);
  return each;
}

}  // namespace forklift
