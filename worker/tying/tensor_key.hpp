// What makes two names one tensor.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forklift/weight_tying.hpp"

namespace forklift::tying {

/// The place of a tensor; names with equal keys are tied.
struct TensorKey {
  StorageIdentity storage = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  friend auto operator<=>(const TensorKey&, const TensorKey&) = default;
};

/// Empty: tied to nothing, because it has no known storage or no extent.
inline std::optional<TensorKey> key_of(const NamedParameter& parameter) {
  if (parameter.storage == 0 || parameter.bytes == 0) return std::nullopt;
  return TensorKey{parameter.storage, parameter.offset_bytes, parameter.bytes, parameter.elements};
}

/// The first byte behind a tensor; the largest number where that does not fit.
inline std::uint64_t end_of(const TensorKey& key) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return key.bytes > most - key.offset ? most : key.offset + key.bytes;
}

/// Parameters by name, the first entry of each. Points into the list, which must outlive it.
using ByName = std::map<std::string, const NamedParameter*>;
inline ByName by_name(const std::vector<NamedParameter>& parameters) {
  ByName names;
  for (const NamedParameter& parameter : parameters) names.emplace(parameter.name, &parameter);
  return names;
}

/// Names by tensor, sorted; each name that is tied to nothing is not in it.
using Tensors = std::map<TensorKey, std::vector<std::string>>;
inline Tensors tensors_of(const ByName& names) {
  Tensors tensors;
  for (const auto& [name, parameter] : names) {
    if (const auto key = key_of(*parameter)) tensors[*key].push_back(name);
  }
  return tensors;
}

/// The names of `group` that `names` has, as one list for each tensor they stand for, in the order of their first
/// names.
std::vector<std::vector<std::string>> partition(const std::vector<std::string>& group, const ByName& names);

}  // namespace forklift::tying
