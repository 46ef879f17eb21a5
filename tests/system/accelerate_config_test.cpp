#include "launcher/system/accelerate_config.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

using support::TemporaryDirectory;

class AccelerateConfig : public support::LeakChecked {};

TEST_F(AccelerateConfig, DefaultFile_IsFoundWhereAccelerateLooks) {
  const TemporaryDirectory home;
  const std::string at = home.path();
  const std::pair<Environment, std::string> table[] = {
      {{{"HF_HOME", at + "/hf"}, {"XDG_CACHE_HOME", at + "/cache"}, {"HOME", at}}, "hf/accelerate"},
      {{{"XDG_CACHE_HOME", at + "/cache"}, {"HOME", at}}, "cache/huggingface/accelerate"},
      {{{"HOME", at}}, ".cache/huggingface/accelerate"},
  };
  for (const auto& [environment, folder] : table) {
    EXPECT_EQ(accelerate_default_config(environment), std::nullopt) << folder;
    home.write(folder + "/default_config.yaml", "num_processes: 4\n");
    EXPECT_EQ(accelerate_default_config(environment), at + "/" + folder + "/default_config.yaml");
  }
}

TEST_F(AccelerateConfig, NoHome_IsNoFile) { EXPECT_EQ(accelerate_default_config({}), std::nullopt); }

}  // namespace
}  // namespace forklift
