#include "worker/format/copy_plan.hpp"

#include "worker/format/storages.hpp"

namespace forklift {
namespace {

/// Neighbours in the file that stay neighbours are one run.
void add_run(std::vector<CopyRun>& runs, const CopyRun& run) {
  if (!runs.empty()) {
    CopyRun& last = runs.back();
    if (last.part == run.part && last.source + last.length == run.source &&
        last.destination + last.length == run.destination) {
      last.length += run.length;
      return;
    }
  }
  runs.push_back(run);
}

}  // namespace

Result<CopyPlan> plan_copy(const ModelLayout& layout) {
  constexpr std::uint64_t address_limit = std::uint64_t{1} << 62U;
  std::vector<ByteRange> ranges;
  ranges.reserve(layout.tensors.size());
  for (const ModelTensor& tensor : layout.tensors) {
    ranges.push_back({tensor.part, tensor.offset, tensor.offset + tensor.bytes, 0});
  }

  CopyPlan plan;
  plan.tensors = layout.tensors;
  for (ModelTensor& tensor : plan.tensors) {
    tensor.part = 0;
    tensor.offset = 0;  // Where empty ones stay.
  }
  for (const Storage& storage : find_storages(ranges)) {
    const std::uint64_t place = place_behind(plan.length, storage, ranges);
    add_run(plan.runs, {storage.space, storage.begin, place, storage.end - storage.begin});
    for (const std::size_t member : storage.members) {
      plan.tensors[member].offset = place + (ranges[member].begin - storage.begin);
    }
    plan.length = place + (storage.end - storage.begin);
    if (plan.length > address_limit) {
      return Error{ErrorKind::usage, "the model is larger than any address space"};
    }
  }
  return plan;
}

}  // namespace forklift
