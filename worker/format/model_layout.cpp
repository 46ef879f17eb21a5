#include "worker/format/model_layout.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "worker/format/storages.hpp"

namespace forklift {
namespace {

std::uint64_t elements_of(const ModelTensor& tensor) {
  std::uint64_t product = 1;
  for (const std::uint64_t dimension : tensor.shape) product *= dimension;  // Was checked for overflow.
  return product;
}

}  // namespace

NameGroups tied_groups(const ModelLayout& layout) {
  std::vector<const ModelTensor*> tensors;
  for (const ModelTensor& tensor : layout.tensors) {
    if (tensor.bytes > 0) tensors.push_back(&tensor);
  }
  const auto place = [](const ModelTensor* tensor) {
    return std::tuple(tensor->part, tensor->offset, tensor->bytes, elements_of(*tensor));
  };
  std::sort(tensors.begin(), tensors.end(), [&](const auto* a, const auto* b) {
    return std::tuple(place(a), std::string_view(a->name)) < std::tuple(place(b), std::string_view(b->name));
  });

  NameGroups groups;
  for (auto first = tensors.begin(); first != tensors.end();) {
    const auto last = std::find_if(first, tensors.end(), [&](const auto* one) { return place(one) != place(*first); });
    if (last - first > 1) {
      std::vector<std::string>& group = groups.emplace_back();
      std::transform(first, last, std::back_inserter(group), [](const auto* tensor) { return tensor->name; });
    }
    first = last;
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::uint64_t stored_bytes(const ModelLayout& layout) {
  std::vector<ByteRange> ranges;
  ranges.reserve(layout.tensors.size());
  for (const ModelTensor& tensor : layout.tensors) {
    ranges.push_back({tensor.part, tensor.offset, tensor.offset + tensor.bytes, 0});
  }
  std::uint64_t sum = 0;
  for (const Storage& storage : find_storages(ranges)) sum += storage.end - storage.begin;
  return sum;
}

std::string_view name_of(PartKind kind) {
  switch (kind) {
    case PartKind::file:
      return "file";
    case PartKind::memfd:
      return "memfd";
    case PartKind::tmpfs:
      return "tmpfs";
    case PartKind::huge_tmpfs:
      return "huge tmpfs";
  }
  return {};
}

}  // namespace forklift
