// A model before and after, compared.
#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "forklift/weight_tying.hpp"
#include "worker/tying/tensor_key.hpp"
#include "worker/tying/tying_words.hpp"

namespace forklift {
namespace {

using tying::by_name;
using tying::ByName;
using tying::Names;
using Kind = TyingDifference::Kind;

/// Both sides, looked at by name, and the differences found so far.
struct Comparison {
  const std::vector<NamedParameter>& before_list;
  const std::vector<NamedParameter>& after_list;
  ByName before;
  ByName after;
  std::vector<TyingDifference> differences;

  void add(Kind kind, Names names, std::string sentence) {
    differences.push_back({kind, std::move(names), std::move(sentence)});
  }
};

bool on_meta(const std::string& name, const ByName& names) {
  const auto found = names.find(name);
  return found != names.end() && found->second->data == ParameterData::meta;
}

/// What the tensors of `parts` take beside the largest of them.
std::uint64_t bytes_beside_one(const std::vector<Names>& parts, const ByName& names) {
  std::uint64_t sum = 0;
  std::uint64_t largest = 0;
  for (const Names& part : parts) {
    if (on_meta(part.front(), names)) continue;
    const std::uint64_t bytes = names.find(part.front())->second->bytes;
    sum += bytes;
    largest = std::max(largest, bytes);
  }
  return sum - largest;
}

Names flattened(const std::vector<Names>& parts) {
  Names all;
  for (const Names& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return all;
}

bool is_among(const Names& names, const NameGroups& groups) {
  return std::any_of(groups.begin(), groups.end(), [&names](const Names& group) {
    return std::includes(group.begin(), group.end(), names.begin(), names.end());
  });
}

/// The names that the other side has too.
Names known_of(const Names& names, const ByName& there) {
  Names known;
  std::copy_if(names.begin(), names.end(), std::back_inserter(known),
               [&there](const std::string& name) { return there.contains(name); });
  return known;
}

/// Names of broken ties that have no data now: they are told there, and not again.
using Told = std::set<std::string>;

Told compare_ties(Comparison& both) {
  Told told;
  const NameGroups overlapping = find_overlapping(both.after_list);
  for (const Names& group : find_tied(both.before_list)) {
    auto parts = tying::partition(group, both.after);
    if (parts.size() < 2) continue;
    if (is_among(known_of(group, both.after), overlapping)) continue;  // No independent copies: told as an overlap.
    const auto without = std::stable_partition(
        parts.begin(), parts.end(), [&both](const Names& part) { return !on_meta(part.front(), both.after); });
    const Names without_data = flattened({without, parts.end()});
    parts.erase(without, parts.end());
    if (parts.size() == 1) {
      both.add(Kind::untied, group, tying::untied_on_meta_sentence(group, without_data));
    } else if (parts.size() > 1) {
      both.add(Kind::untied, group, tying::untied_sentence(group, parts, bytes_beside_one(parts, both.after)));
    } else {
      continue;  // Nothing of it has data: that is another sentence.
    }
    told.insert(without_data.begin(), without_data.end());
  }
  return told;
}

/// A name whose storage was not known before may have been tied then: nothing is said about it.
void compare_new_ties(Comparison& both) {
  ByName known = both.before;
  std::erase_if(known, [](const auto& entry) { return !tying::key_of(*entry.second); });
  for (const Names& group : find_tied(both.after_list)) {
    const auto parts = tying::partition(group, known);
    if (parts.size() < 2) continue;
    const std::uint64_t saving = bytes_beside_one(parts, both.before);
    both.add(Kind::newly_tied, group, tying::newly_tied_sentence(flattened(parts), parts.size(), saving));
  }
}

void compare_overlaps(Comparison& both) {
  const NameGroups before = find_overlapping(both.before_list);
  const NameGroups after = find_overlapping(both.after_list);
  const NameGroups tied = find_tied(both.after_list);
  for (const Names& group : before) {
    const Names known = known_of(group, both.after);
    if (known.size() < 2 || is_among(known, after) || is_among(known, tied)) continue;
    both.add(Kind::no_longer_overlapping, known, tying::no_longer_overlapping_sentence(known));
  }
  for (const Names& group : after) {
    if (is_among(known_of(group, both.before), before)) continue;
    both.add(Kind::newly_overlapping, group, tying::newly_overlapping_sentence(group));
  }
}

/// The names of `some` that `others` lacks.
Names beyond(const ByName& some, const ByName& others) {
  Names names;
  for (const auto& [name, parameter] : some) {
    if (!others.contains(name)) names.push_back(name);
  }
  return names;
}

void compare_names(Comparison& both, const Told& told) {
  if (Names missing = beyond(both.before, both.after); !missing.empty()) {
    both.add(Kind::missing, missing, tying::missing_sentence(missing));
  }
  if (Names added = beyond(both.after, both.before); !added.empty()) {
    both.add(Kind::added, added, tying::added_sentence(added));
  }
  Names lost;
  for (const auto& [name, was] : both.before) {
    const auto found = both.after.find(name);
    if (found == both.after.end()) continue;
    const NamedParameter& is = *found->second;
    if (was->elements != is.elements) {
      both.add(Kind::resized, {name}, tying::resized_sentence(name, was->elements, is.elements));
    }
    const bool lost_data = was->data == ParameterData::present && is.data == ParameterData::meta;
    if (lost_data && !told.contains(name)) lost.push_back(name);
  }
  if (!lost.empty()) both.add(Kind::lost_data, lost, tying::lost_data_sentence(lost));
}

void compare_optimizer(Comparison& both, const OptimizerStorages& optimizer) {
  if (optimizer.empty()) return;
  const std::set<StorageIdentity> held(optimizer.begin(), optimizer.end());
  std::set<StorageIdentity> stale = held;
  for (const auto& [name, parameter] : both.after) stale.erase(parameter->storage);
  Names left_behind;
  std::set<StorageIdentity> known;
  for (const auto& [name, parameter] : both.before) {
    if (!stale.contains(parameter->storage)) continue;
    left_behind.push_back(name);
    known.insert(parameter->storage);
  }
  if (!left_behind.empty()) {
    both.add(Kind::stale_optimizer, left_behind, tying::stale_optimizer_sentence(left_behind, 0));
  }
  if (const std::size_t unknown = stale.size() - known.size(); unknown > 0) {
    both.add(Kind::stale_optimizer, {}, tying::stale_optimizer_sentence({}, unknown));
  }
  for (const Names& group : find_tied(both.before_list)) {
    Names in;
    Names out;
    for (const std::string& name : known_of(group, both.after)) {
      (held.contains(both.after.at(name)->storage) ? in : out).push_back(name);
    }
    if (!in.empty() && !out.empty()) both.add(Kind::not_optimized, out, tying::not_optimized_sentence(out, in));
  }
}

}  // namespace

TyingReport verify_tying(const std::vector<NamedParameter>& before, const std::vector<NamedParameter>& after,
                         const OptimizerStorages& optimizer) {
  Comparison both{before, after, by_name(before), by_name(after), {}};
  const Told told = compare_ties(both);
  compare_new_ties(both);
  compare_overlaps(both);
  compare_names(both, told);
  compare_optimizer(both, optimizer);
  std::stable_sort(both.differences.begin(), both.differences.end(), [](const auto& left, const auto& right) {
    return std::tie(left.kind, left.names) < std::tie(right.kind, right.names);
  });
  return {count_parameters(before), count_parameters(after), std::move(both.differences)};
}

}  // namespace forklift
