// Environment variables as data.
#pragma once

#include <map>
#include <string>

namespace forklift {

/// A photograph of an environment. The program's own is taken once, in main(), and passed down.
using Environment = std::map<std::string, std::string>;

/// One variable that forklift sets for a replica. `value` may hold the placeholders of plan.hpp.
struct EnvironmentVariable {
  std::string name;
  std::string value;
  friend bool operator==(const EnvironmentVariable&, const EnvironmentVariable&) = default;
};

}  // namespace forklift
