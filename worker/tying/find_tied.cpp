// Groups of names by the memory they stand for.
#include <algorithm>

#include "forklift/weight_tying.hpp"
#include "worker/tying/tensor_key.hpp"

namespace forklift {

using tying::by_name;
using tying::ByName;
using tying::end_of;
using tying::key_of;
using tying::TensorKey;
using tying::Tensors;
using tying::tensors_of;

namespace {

/// Tensors of one storage that overlap in a chain, as the range [first, last) of a map ordered by storage and offset.
struct Chain {
  Tensors::const_iterator first;
  Tensors::const_iterator last;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// All chains, those of a single tensor included.
std::vector<Chain> chains_of(const Tensors& tensors) {
  std::vector<Chain> chains;
  for (auto at = tensors.begin(); at != tensors.end();) {
    Chain chain{at, std::next(at), at->first.offset, end_of(at->first)};
    while (chain.last != tensors.end() && chain.last->first.storage == at->first.storage &&
           chain.last->first.offset < chain.end) {
      chain.end = std::max(chain.end, end_of(chain.last->first));
      ++chain.last;
    }
    at = chain.last;
    chains.push_back(chain);
  }
  return chains;
}

}  // namespace

namespace tying {

std::vector<std::vector<std::string>> partition(const std::vector<std::string>& group, const ByName& names) {
  std::map<TensorKey, std::size_t> place;
  std::vector<std::vector<std::string>> parts;
  for (const std::string& name : group) {
    const auto found = names.find(name);
    if (found == names.end()) continue;
    const auto key = key_of(*found->second);
    const auto [at, is_new] = key ? place.emplace(*key, parts.size()) : std::pair{place.end(), true};
    if (is_new) parts.emplace_back();
    (is_new ? parts.back() : parts[at->second]).push_back(name);
  }
  return parts;
}

}  // namespace tying

NameGroups find_tied(const std::vector<NamedParameter>& parameters) {
  NameGroups groups;
  for (auto& [key, names] : tensors_of(by_name(parameters))) {
    if (names.size() > 1) groups.push_back(names);
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

NameGroups find_overlapping(const std::vector<NamedParameter>& parameters) {
  NameGroups groups;
  const Tensors tensors = tensors_of(by_name(parameters));
  for (const Chain& chain : chains_of(tensors)) {
    if (std::next(chain.first) == chain.last) continue;
    std::vector<std::string>& group = groups.emplace_back();
    for (auto tensor = chain.first; tensor != chain.last; ++tensor) {
      group.insert(group.end(), tensor->second.begin(), tensor->second.end());
    }
    std::sort(group.begin(), group.end());
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

ParameterCount count_parameters(const std::vector<NamedParameter>& parameters) {
  const ByName names = by_name(parameters);
  ByName present;
  ParameterCount count;
  count.names = names.size();
  count.tensors = tensors_of(names).size();
  for (const auto& [name, parameter] : names) {
    const bool has_data = parameter->data == ParameterData::present;
    if (!key_of(*parameter)) {
      ++count.tensors;
      if (has_data) count.bytes += parameter->bytes;
    } else if (has_data) {
      present.emplace(name, parameter);
    }
  }
  const Tensors tensors = tensors_of(present);
  for (const Chain& chain : chains_of(tensors)) count.bytes += chain.end - chain.begin;
  return count;
}

}  // namespace forklift
