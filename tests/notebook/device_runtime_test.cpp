// Which device runtimes forbid a fork, and by what they are recognised: no device is needed to know.
#include "worker/host/device_runtime.hpp"

#include <gtest/gtest.h>

namespace forklift {
namespace {

std::string sentence(const ProcessPhotograph& photograph) { return runtime_that_forbids_fork(photograph).value_or(""); }

TEST(DeviceRuntime, NothingOfADevice_AllowsTheFork) {
  EXPECT_EQ(sentence({}), "");
  EXPECT_EQ(sentence({{"/dev/null", "socket:[1]"}, {"/usr/lib/libc.so.6"}, {"ZMQbg/IO/0"}}), "");
}

TEST(DeviceRuntime, LibraryWithoutDevice_IsOnlyLoaded) {
  EXPECT_EQ(sentence({{}, {"/usr/lib/libcuda.so.1", "/opt/libtpu.so"}, {}}), "");
}

TEST(DeviceRuntime, DeviceWithoutLibrary_IsSomebodyElses) {
  EXPECT_EQ(sentence({{"/dev/nvidia0"}, {"/usr/lib/libnvidia-ml.so.1"}, {}}), "");
}

TEST(DeviceRuntime, Cuda_IsNamedWithItsSigns) {
  const std::string said = sentence({{"/dev/nvidia-uvm"}, {"/usr/lib/libcuda.so.550.1"}, {}});
  EXPECT_NE(said.find("CUDA is initialised"), std::string::npos) << said;
  EXPECT_NE(said.find("/dev/nvidia-uvm"), std::string::npos) << said;
  EXPECT_NE(said.find("libcuda.so.550.1"), std::string::npos) << said;
}

TEST(DeviceRuntime, Tpu_IsNamed) {
  EXPECT_NE(sentence({{"/dev/accel0"}, {"/x/libtpu/libtpu.so"}, {}}).find("libtpu"), std::string::npos);
  EXPECT_NE(sentence({{"/dev/vfio/0"}, {"/x/libtpu/libtpu.so"}, {}}).find("libtpu"), std::string::npos);
}

TEST(DeviceRuntime, XlaClientOnTheCpu_IsKnownByItsThreads) {
  EXPECT_NE(sentence({{}, {}, {"python", "tf_XLAEigen"}}).find("tf_XLAEigen"), std::string::npos);
}

TEST(DeviceRuntime, PhotographOfThisProcess_HasItsLibraries) {
  const ProcessPhotograph photograph = photograph_of_self();
  EXPECT_FALSE(photograph.open_files.empty());
  EXPECT_FALSE(photograph.mapped_libraries.empty());
}

}  // namespace
}  // namespace forklift
