#include "worker/format/model_aliases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "worker/format/quoted.hpp"

namespace forklift {
namespace {

ModelTensor renamed(ModelTensor tensor, const std::string& name) {
  tensor.name = name;
  return tensor;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + in_quotes(name);
  return text;
}

}  // namespace

TensorNames::TensorNames(const std::vector<ModelTensor>& tensors) : tensors_(&tensors), by_name_(tensors.size()) {
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return tensors[a].name < tensors[b].name; });
}

std::optional<std::size_t> TensorNames::find(std::string_view name) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [&](std::uint32_t a, std::string_view b) { return (*tensors_)[a].name < b; });
  if (found == by_name_.end() || (*tensors_)[*found].name != name) return std::nullopt;
  return *found;
}

const std::string* TensorNames::twice() const {
  const auto found = std::adjacent_find(by_name_.begin(), by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return (*tensors_)[a].name == (*tensors_)[b].name;
  });
  return found == by_name_.end() ? nullptr : &(*tensors_)[*found].name;
}

void add_metadata_aliases(ModelLayout& layout, const std::map<std::string, std::string>& metadata, std::uint32_t part) {
  if (metadata.empty()) return;
  const TensorNames names(layout.tensors);
  std::vector<ModelTensor> added;
  for (const auto& [removed, kept] : metadata) {
    const auto place = names.find(kept);
    if (!place || layout.tensors[*place].part != part || names.find(removed)) continue;
    added.push_back(renamed(layout.tensors[*place], removed));
  }
  layout.tensors.insert(layout.tensors.end(), added.begin(), added.end());
}

Result<std::vector<std::string>> add_tied_names(ModelLayout& layout, const NameGroups& groups) {
  const TensorNames names(layout.tensors);
  std::map<std::string, std::size_t> added;  // What `names` does not know.
  std::vector<std::string> notes;
  for (const auto& group : groups) {
    std::optional<std::size_t> kept;
    std::vector<std::string> missing;
    bool separate = false;
    for (const std::string& name : group) {
      auto place = names.find(name);
      if (const auto found = added.find(name); found != added.end()) place = found->second;
      if (!place) {
        missing.push_back(name);
        continue;
      }
      if (!kept) kept = place;
      const ModelTensor& first = layout.tensors[*kept];
      const ModelTensor& other = layout.tensors[*place];
      separate = separate || first.part != other.part || first.offset != other.offset;
    }
    if (!kept) {
      return Error{ErrorKind::usage, fmt::format("none of the tied names {} is a tensor of {}", listed(group),
                                                 layout.path.empty() ? "the model" : in_quotes(layout.path))};
    }
    if (separate) notes.push_back(fmt::format("the tied names {} are stored separately and stay so", listed(group)));
    for (const std::string& name : missing) {
      if (!added.emplace(name, layout.tensors.size()).second) continue;
      layout.tensors.push_back(renamed(layout.tensors[*kept], name));
    }
  }
  return notes;
}

}  // namespace forklift
