// What repairs a broken tie: after a move by assigning, after a load by knowing which absent names are only aliases.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "forklift/weight_tying.hpp"
#include "worker/tying/tensor_key.hpp"

namespace forklift {
namespace {

using tying::by_name;
using tying::ByName;

/// The assignments of one group; none if it holds, or if nothing of it has data.
void retie_group(const std::vector<std::string>& group, const ByName& after, std::vector<Retie>& plan) {
  const auto parts = tying::partition(group, after);
  if (parts.size() < 2) return;
  const auto has_data = [&after](const std::string& name) {
    const auto found = after.find(name);
    return found != after.end() && found->second->data == ParameterData::present;
  };
  const auto source = std::find_if(group.begin(), group.end(), has_data);
  if (source == group.end()) return;
  for (const auto& part : parts) {
    if (std::find(part.begin(), part.end(), *source) != part.end()) continue;  // Still tied to it.
    for (const std::string& target : part) plan.push_back({target, *source});
  }
}

using Groups = std::map<std::string, const std::vector<std::string>*>;

/// The group that each tied name is in.
Groups groups_by_name(const NameGroups& tied) {
  Groups groups;
  for (const auto& group : tied) {
    for (const std::string& name : group) groups.emplace(name, &group);
  }
  return groups;
}

/// The first of the names that the model ties to `name` and the file has.
template <class IsThere>
const std::string* kept_in_model(const std::string& name, const Groups& groups, IsThere is_there) {
  const auto found = groups.find(name);
  if (found == groups.end()) return nullptr;
  const auto kept = std::find_if(found->second->begin(), found->second->end(), is_there);
  return kept == found->second->end() ? nullptr : &*kept;
}

/// The name that the file's writer noted as the one it kept, if the file has it.
const std::string* kept_in_file(const std::string& name, const FileNames& file, const std::set<std::string>& in_file) {
  const auto noted = file.metadata.find(name);
  return noted != file.metadata.end() && in_file.contains(noted->second) ? &noted->second : nullptr;
}

}  // namespace

std::vector<Retie> retie_plan(const std::vector<NamedParameter>& before, const std::vector<NamedParameter>& after) {
  std::vector<Retie> plan;
  const ByName now = by_name(after);
  for (const auto& group : find_tied(before)) retie_group(group, now, plan);
  return plan;
}

AliasPlan aliases_to_restore(const std::vector<std::string>& model, const NameGroups& tied, const FileNames& file) {
  const std::set<std::string> in_model(model.begin(), model.end());
  const std::set<std::string> in_file(file.tensors.begin(), file.tensors.end());
  const Groups groups = groups_by_name(tied);
  const auto in_both = [&](const std::string& name) { return in_file.contains(name) && in_model.contains(name); };
  AliasPlan plan;
  for (const std::string& name : in_model) {
    if (in_file.contains(name)) continue;
    if (const std::string* kept = kept_in_model(name, groups, in_both)) {
      plan.restore.push_back({name, *kept, AliasToRestore::Because::tied_in_model});
    } else if (const std::string* noted = kept_in_file(name, file, in_file)) {
      plan.restore.push_back({name, *noted, AliasToRestore::Because::noted_in_file});
    } else {
      plan.missing.push_back(name);
    }
  }
  std::set_difference(in_file.begin(), in_file.end(), in_model.begin(), in_model.end(),
                      std::back_inserter(plan.unexpected));
  return plan;
}

}  // namespace forklift
