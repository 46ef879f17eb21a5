#include "launcher/system/accelerate_config.hpp"

#include <unistd.h>

namespace forklift {
namespace {

std::string value_of(const Environment& environment, const char* name) {
  const auto variable = environment.find(name);
  return variable == environment.end() ? std::string() : variable->second;
}

std::string hugging_face_home(const Environment& environment) {
  if (const std::string given = value_of(environment, "HF_HOME"); !given.empty()) return given;
  if (const std::string cache = value_of(environment, "XDG_CACHE_HOME"); !cache.empty()) return cache + "/huggingface";
  const std::string home = value_of(environment, "HOME");
  return home.empty() ? "" : home + "/.cache/huggingface";
}

}  // namespace

std::optional<std::string> accelerate_default_config(const Environment& environment) {
  const std::string home = hugging_face_home(environment);
  if (home.empty()) return std::nullopt;
  const std::string path = home + "/accelerate/default_config.yaml";
  return ::access(path.c_str(), F_OK) == 0 ? std::optional(path) : std::nullopt;
}

}  // namespace forklift
