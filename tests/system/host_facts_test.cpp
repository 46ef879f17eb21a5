#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "launcher/system/accelerators.hpp"
#include "launcher/system/cpu_topology.hpp"
#include "launcher/system/host_facts_reader.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

using support::TemporaryDirectory;

class HostFactsReader : public support::LeakChecked {};

std::vector<int> cpus_of(const HostFacts& facts) {
  std::vector<int> cpus;
  for (const CpuCore& core : facts.cores) cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

TEST_F(HostFactsReader, ThisMachine_IsDescribedCompletely) {
  const HostFacts facts = read_host_facts();
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(facts.hostname, name);
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_EQ(cpus_of(facts), allowed_cpus());
  EXPECT_GT(facts.memory_total_bytes, 1U << 20U);
  EXPECT_GT(facts.memory_available_bytes, 0U);
  EXPECT_LE(facts.memory_available_bytes, facts.memory_total_bytes);
  EXPECT_LE(facts.shm_free_bytes, facts.shm_total_bytes);
  EXPECT_GT(facts.open_files_limit, 0U);
  EXPECT_TRUE(facts.capabilities.empty());
  if (facts.cpu_quota) {
    EXPECT_GT(*facts.cpu_quota, 0);
  }
}

TEST_F(HostFactsReader, AffinityMask_LimitsTheCores) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const int last = allowed_cpus().back();
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(last), &only);
  ASSERT_EQ(::sched_setaffinity(0, sizeof only, &only), 0);
  const HostFacts facts = read_host_facts();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_EQ(facts.cores.size(), 1U);
  EXPECT_EQ(facts.cores.front().cpus, std::vector<int>{last});
}

TEST_F(HostFactsReader, Capabilities_AreAllJudged) {
  const auto capabilities = read_capabilities();
  for (const char* name :
       {"pidfd", "clone_pidfd", "memfd", "subreaper", "pid_namespace", "user_namespace", "cgroup_kill"}) {
    ASSERT_TRUE(capabilities.contains(name)) << name;
    const std::string& verdict = capabilities.at(name);
    EXPECT_TRUE(verdict == "yes" || verdict.starts_with("no: E")) << name << ": " << verdict;
  }
  EXPECT_EQ(capabilities.at("subreaper"), "yes");
}

class CpuTopology : public support::LeakChecked {
 protected:
  std::string root() const { return directory_.path(); }
  void add_cpu(int cpu, const std::string& siblings) const {
    directory_.write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", siblings);
  }
  void add_node(int node, const std::string& cpus) const {
    directory_.write("sys/devices/system/node/node" + std::to_string(node) + "/cpulist", cpus);
  }
  /// "node: cpus" for each core.
  static std::string text_of(const std::vector<CpuCore>& cores) {
    std::string text;
    for (const CpuCore& core : cores) {
      text += std::to_string(core.numa_node) + ":";
      for (const int cpu : core.cpus) text += " " + std::to_string(cpu);
      text += "\n";
    }
    return text;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(CpuTopology, HardwareThreads_ShareACore) {
  add_cpu(0, "0,2\n");
  add_cpu(2, "0,2\n");
  add_cpu(1, "1,3\n");
  add_cpu(3, "1,3\n");
  add_node(0, "0-3\n");
  EXPECT_EQ(text_of(read_cores({0, 1, 2, 3}, root())), "0: 0 2\n0: 1 3\n");
}

TEST_F(CpuTopology, ThreadOutsideTheMask_IsLeftOut) {
  add_cpu(0, "0-1\n");
  add_cpu(3, "2-3\n");
  EXPECT_EQ(text_of(read_cores({0, 3}, root())), "0: 0\n0: 3\n");
}

TEST_F(CpuTopology, Cores_AreOrderedByNumaNode) {
  add_node(0, "0,2\n");
  add_node(1, "1,3\n");
  EXPECT_EQ(text_of(read_cores({0, 1, 2, 3}, root())), "0: 0\n0: 2\n1: 1\n1: 3\n");
}

TEST_F(CpuTopology, SilentMachine_HasACorePerCpu) {
  EXPECT_EQ(text_of(read_cores({4, 5}, root())), "0: 4\n0: 5\n");
  EXPECT_TRUE(read_cores({}, root()).empty());
}

/// A machine whose /sys, /proc and /dev are files that the test writes.
class Accelerators : public support::LeakChecked {
 protected:
  void add_pci(const std::string& address, unsigned vendor, unsigned device, unsigned device_class,
               int numa_node = 0) const {
    char modalias[96];
    std::snprintf(modalias, sizeof modalias, "pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi00\n", vendor, device, vendor,
                  0x1234U, device_class >> 8U, device_class & 0xffU);
    directory_.write("sys/bus/pci/devices/" + address + "/modalias", modalias);
    directory_.write("sys/bus/pci/devices/" + address + "/numa_node", std::to_string(numa_node) + "\n");
  }
  void add_file(const std::string& path, const std::string& content = "") const { directory_.write(path, content); }
  void add_nvidia(const std::string& address, int minor, int numa_node) const {
    add_pci(address, 0x10de, 0x2330, 0x0302, numa_node);
    add_file("proc/driver/nvidia/gpus/" + address + "/information",
             "Model: \t\t NVIDIA\nIRQ:   \t\t 42\nDevice Minor: \t " + std::to_string(minor) + "\n");
  }
  /// "kind address@node" for each.
  std::string found() const {
    std::string text;
    for (const Accelerator& one : read_accelerators(directory_.path())) {
      text += one.kind + " " + one.address + "@" + std::to_string(one.numa_node) + "\n";
    }
    return text;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(Accelerators, OrdinaryMachine_HasNone) {
  add_pci("0000:00:02.0", 0x8086, 0x9a49, 0x0300);
  add_pci("0000:00:1f.3", 0x8086, 0xa0c8, 0x0403);
  add_pci("0000:01:00.1", 0x10de, 0x228b, 0x0403);  // The sound of a graphics card.
  add_file("dev/null");
  EXPECT_EQ(found(), "");
}

TEST_F(Accelerators, NvidiaWithoutDriver_IsNotUsable) {
  add_pci("0000:01:00.0", 0x10de, 0x2330, 0x0302);
  EXPECT_EQ(found(), "");
}

TEST_F(Accelerators, NvidiaOfAContainer_AreThoseWithADeviceNode) {
  add_nvidia("0000:1b:00.0", 1, 0);
  add_nvidia("0000:43:00.0", 0, 0);
  add_nvidia("0000:9b:00.0", 3, 1);
  add_pci("0000:05:00.0", 0x10de, 0x22a3, 0x0680);  // NVSwitch
  for (const char* node : {"nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm"}) add_file(std::string("dev/") + node);
  EXPECT_EQ(found(), "cuda 0000:43:00.0@0\ncuda 0000:9b:00.0@1\n");
}

TEST_F(Accelerators, NvidiaWithoutPci_IsNamedByItsNode) {
  add_file("dev/nvidia0");
  add_file("dev/nvidia1");
  EXPECT_EQ(found(), "cuda /dev/nvidia0@-1\ncuda /dev/nvidia1@-1\n");
}

TEST_F(Accelerators, AmdInstinct_NeedsKfdAndItsRenderNode) {
  add_pci("0000:c1:00.0", 0x1002, 0x74a1, 0x1200, 1);
  add_pci("0000:c2:00.0", 0x1002, 0x74a1, 0x0380, -1);
  add_pci("0000:03:00.0", 0x1002, 0x1638, 0x0300);  // The graphics of a processor.
  for (const char* path : {"0000:c1:00.0/drm/renderD128/x", "0000:c2:00.0/drm/renderD129/x"}) {
    add_file(std::string("sys/bus/pci/devices/") + path);
  }
  add_file("dev/dri/renderD128");
  EXPECT_EQ(found(), "") << "without /dev/kfd";
  add_file("dev/kfd");
  EXPECT_EQ(found(), "rocm 0000:c1:00.0@1\n");
  add_file("dev/dri/renderD129");
  EXPECT_EQ(found(), "rocm 0000:c1:00.0@1\nrocm 0000:c2:00.0@-1\n");
}

TEST_F(Accelerators, HabanaAndAscend_AreCountedByNode) {
  add_pci("0000:33:00.0", 0x1da3, 0x1020, 0x1200, 0);
  add_pci("0000:34:00.0", 0x1da3, 0x1020, 0x1200, 1);
  add_file("dev/accel/accel0");
  EXPECT_EQ(found(), "hpu /dev/accel/accel0@-1\n") << "one of two: which one is not known";
  add_file("dev/accel/accel1");
  EXPECT_EQ(found(), "hpu 0000:33:00.0@0\nhpu 0000:34:00.0@1\n");
}

TEST_F(Accelerators, Ascend_IsNotItsManager) {
  add_pci("0000:81:00.0", 0x19e5, 0xd802, 0x1200, 1);
  add_pci("0000:7d:00.0", 0x19e5, 0xa222, 0x0200);  // A network card of the same maker.
  add_file("dev/davinci_manager");
  EXPECT_EQ(found(), "");
  add_file("dev/davinci0");
  EXPECT_EQ(found(), "npu 0000:81:00.0@1\n");
}

TEST_F(Accelerators, TpuChips_AreKnownByTheirDeviceNumber) {
  for (const unsigned device : {0x0027U, 0x005eU, 0x0063U, 0x006fU, 0x0076U}) {
    char address[16];
    std::snprintf(address, sizeof address, "0000:00:%02x.0", device);
    add_pci(address, 0x1ae0, device, 0x1200);
  }
  add_pci("0000:00:01.0", 0x1ae0, 0x0042, 0x0200);  // The virtual network card.
  EXPECT_EQ(found(), "") << "without device nodes";
  add_file("dev/vfio/vfio");
  EXPECT_EQ(found(), "") << "vfio's control node alone";
  add_file("dev/vfio/0");
  EXPECT_EQ(found(),
            "tpu 0000:00:27.0@0\ntpu 0000:00:5e.0@0\ntpu 0000:00:63.0@0\ntpu 0000:00:6f.0@0\ntpu 0000:00:76.0@0\n");
}

}  // namespace
}  // namespace forklift
