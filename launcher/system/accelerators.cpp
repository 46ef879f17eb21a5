#include "launcher/system/accelerators.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

constexpr unsigned vendor_amd = 0x1002;
constexpr unsigned vendor_nvidia = 0x10de;
constexpr unsigned vendor_huawei = 0x19e5;
constexpr unsigned vendor_google = 0x1ae0;
constexpr unsigned vendor_habana = 0x1da3;

constexpr unsigned base_class_display = 0x03;
constexpr unsigned class_display_other = 0x0380;  // A GPU without a monitor: how compute cards present themselves.
constexpr unsigned class_processing_accelerator = 0x1200;

/// Cloud TPU generations: v2 and v3, two test devices, v4, v5e, v6e, v7x.
constexpr unsigned tpu_devices[] = {0x0027, 0x0056, 0x0062, 0x005e, 0x0063, 0x006f, 0x0076};

struct PciDevice {
  std::string address;
  unsigned vendor = 0;
  unsigned device = 0;
  unsigned device_class = 0;  ///< Base class and subclass: 0x0302.
};

unsigned hex_number(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

// One file tells all: "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00".
PciDevice parse_modalias(std::string_view text, std::string address) {
  const auto field = [text](std::string_view name, std::size_t digits) {
    const auto at = text.find(name);
    return at == std::string_view::npos ? 0U : hex_number(text.substr(at + name.size(), digits));
  };
  const unsigned base = field("bc", 2);
  return {std::move(address), field("pci:v", 8), field("d", 8), base << 8U | field("sc", 2)};
}

bool is_accelerator_vendor(unsigned vendor) {
  return vendor == vendor_amd || vendor == vendor_nvidia || vendor == vendor_huawei || vendor == vendor_google ||
         vendor == vendor_habana;
}

/// The devices of the vendors above, by address.
std::vector<PciDevice> read_pci(const std::string& root) {
  std::vector<PciDevice> devices;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir((root + "/sys/bus/pci/devices").c_str()), ::closedir);
  if (!stream) return devices;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (entry->d_name[0] == '.') continue;
    const auto modalias = read_kernel_file(std::string(entry->d_name) + "/modalias", ::dirfd(stream.get()));
    if (!modalias) continue;
    auto device = parse_modalias(*modalias, entry->d_name);
    if (is_accelerator_vendor(device.vendor)) devices.push_back(std::move(device));
  }
  std::sort(devices.begin(), devices.end(),
            [](const PciDevice& left, const PciDevice& right) { return left.address < right.address; });
  return devices;
}

/// The machine that accelerators are looked for on: its PCI devices, read once, and the place of its files.
class Machine {
 public:
  explicit Machine(const std::string& root) : root_(root), pci_(read_pci(root)) {}

  [[nodiscard]] std::string path(const std::string& absolute) const { return root_ + absolute; }
  [[nodiscard]] bool has(const std::string& absolute) const { return ::access(path(absolute).c_str(), F_OK) == 0; }

  /// Device nodes DIRECTORY/PREFIX0, …1, … in the order of their numbers.
  [[nodiscard]] std::vector<std::string> nodes(const std::string& directory, const std::string& prefix) const {
    std::vector<std::string> found;
    for (const int number : numbered_entries(path(directory), prefix)) {
      found.push_back(directory + "/" + prefix + std::to_string(number));
    }
    return found;
  }

  template <class Matches>
  [[nodiscard]] std::vector<std::string> addresses(Matches matches) const {
    std::vector<std::string> found;
    for (const PciDevice& device : pci_) {
      if (matches(device)) found.push_back(device.address);
    }
    return found;
  }

  [[nodiscard]] Accelerator at_address(const std::string& kind, const std::string& address) const {
    const auto node = read_kernel_number(path("/sys/bus/pci/devices/" + address + "/numa_node"));  // -1 is no number.
    return {kind, address, node ? static_cast<int>(*node) : -1};
  }

 private:
  const std::string& root_;
  std::vector<PciDevice> pci_;
};

using Accelerators = std::vector<Accelerator>;

/// One accelerator a device node. Which node is which PCI device is known only if there is one node for each of them.
Accelerators one_per_node(const Machine& machine, const std::string& kind, const std::vector<std::string>& nodes,
                          const std::vector<std::string>& addresses) {
  Accelerators found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool paired = nodes.size() == addresses.size();
    found.push_back(paired ? machine.at_address(kind, addresses[i]) : Accelerator{kind, nodes[i], -1});
  }
  return found;
}

/// The driver's own table: device node → PCI address.
std::map<std::string, std::string> nvidia_nodes(const Machine& machine, const std::vector<std::string>& addresses) {
  std::map<std::string, std::string> address_of;
  for (const std::string& address : addresses) {
    const auto text = read_kernel_file(machine.path("/proc/driver/nvidia/gpus/" + address + "/information"));
    if (!text) continue;
    constexpr std::string_view label = "Device Minor:";
    if (const auto at = text->find(label); at != std::string::npos) {
      std::string_view rest = std::string_view(*text).substr(at + label.size());
      if (const auto minor = parse_number(next_field(rest, " \t\n")))
        address_of["/dev/nvidia" + std::to_string(*minor)] = address;
    }
  }
  return address_of;
}

// Looked for even where PCI shows none: under WSL and on Jetson boards there are device nodes only.
Accelerators nvidia_gpus(const Machine& machine) {
  const auto nodes = machine.nodes("/dev", "nvidia");
  if (nodes.empty()) return {};
  const auto addresses = machine.addresses([](const PciDevice& device) {
    return device.vendor == vendor_nvidia && device.device_class >> 8U == base_class_display;
  });
  const auto address_of = nvidia_nodes(machine, addresses);
  if (address_of.empty()) return one_per_node(machine, "cuda", nodes, addresses);
  Accelerators found;
  for (const std::string& node : nodes) {
    const auto known = address_of.find(node);
    found.push_back(known == address_of.end() ? Accelerator{"cuda", node, -1}
                                              : machine.at_address("cuda", known->second));
  }
  return found;
}

/// Whether one of the device's render nodes can be seen under /dev.
bool has_render_node(const Machine& machine, const std::string& address) {
  const auto numbers = numbered_entries(machine.path("/sys/bus/pci/devices/" + address + "/drm"), "renderD");
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](int number) { return machine.has("/dev/dri/renderD" + std::to_string(number)); });
}

Accelerators amd_gpus(const Machine& machine) {
  if (!machine.has("/dev/kfd")) return {};
  Accelerators found;
  for (const std::string& address : machine.addresses([](const PciDevice& device) {
         return device.vendor == vendor_amd &&
                (device.device_class == class_processing_accelerator || device.device_class == class_display_other);
       })) {
    if (has_render_node(machine, address)) found.push_back(machine.at_address("rocm", address));
  }
  return found;
}

Accelerators habana_hpus(const Machine& machine) {
  const auto addresses = machine.addresses([](const PciDevice& device) { return device.vendor == vendor_habana; });
  if (addresses.empty()) return {};
  auto nodes = machine.nodes("/dev/accel", "accel");
  if (nodes.empty()) nodes = machine.nodes("/dev", "hl");  // Older drivers.
  return one_per_node(machine, "hpu", nodes, addresses);
}

Accelerators ascend_npus(const Machine& machine) {
  const auto addresses = machine.addresses([](const PciDevice& device) {
    return device.vendor == vendor_huawei && device.device_class == class_processing_accelerator;
  });
  if (addresses.empty()) return {};
  return one_per_node(machine, "npu", machine.nodes("/dev", "davinci"), addresses);
}

Accelerators tpu_chips(const Machine& machine) {
  const auto addresses = machine.addresses([](const PciDevice& device) {
    return device.vendor == vendor_google &&
           std::find(std::begin(tpu_devices), std::end(tpu_devices), device.device) != std::end(tpu_devices);
  });
  // Device nodes tell only whether this process may use the chips: under vfio they are numbered by IOMMU group.
  if (addresses.empty() || (machine.nodes("/dev", "accel").empty() && machine.nodes("/dev/vfio", "").empty()))
    return {};
  Accelerators found;
  for (const std::string& address : addresses) found.push_back(machine.at_address("tpu", address));
  return found;
}

}  // namespace

std::vector<Accelerator> read_accelerators(const std::string& root) {
  const Machine machine(root);
  Accelerators all;
  for (const auto find : {nvidia_gpus, amd_gpus, habana_hpus, ascend_npus, tpu_chips}) {
    const Accelerators found = find(machine);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace forklift
