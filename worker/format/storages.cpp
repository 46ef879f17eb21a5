#include "worker/format/storages.hpp"

#include <algorithm>
#include <tuple>

namespace forklift {
namespace {

bool belongs(const Storage& storage, std::uint64_t last_identity, const ByteRange& range) {
  if (range.space != storage.space) return false;
  if (range.begin < storage.end) return true;
  return range.begin == storage.end && range.identity != 0 && range.identity == last_identity;
}

}  // namespace

std::vector<Storage> find_storages(const std::vector<ByteRange>& ranges) {
  std::vector<std::size_t> order;
  order.reserve(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin < ranges[i].end) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) { return std::tuple(ranges[i].space, ranges[i].begin, ranges[i].end, i); };
    return key(a) < key(b);
  });

  std::vector<Storage> storages;
  std::uint64_t last_identity = 0;  // Of the range that reaches the end of the last storage.
  for (const std::size_t index : order) {
    const ByteRange& range = ranges[index];
    if (storages.empty() || !belongs(storages.back(), last_identity, range)) {
      storages.push_back({range.space, range.begin, range.end, {}});
      last_identity = range.identity;
    }
    Storage& storage = storages.back();
    storage.members.push_back(index);
    if (range.end >= storage.end) {
      storage.end = range.end;
      last_identity = range.identity;
    }
  }
  return storages;
}

std::uint64_t place_behind(std::uint64_t end, const Storage& storage, const std::vector<ByteRange>& ranges) {
  const bool one_beginning = std::all_of(storage.members.begin(), storage.members.end(),
                                         [&](std::size_t member) { return ranges[member].begin == storage.begin; });
  const std::uint64_t remainder = one_beginning ? 0 : storage.begin % storage_alignment;
  const std::uint64_t aligned = (end + storage_alignment - 1) / storage_alignment * storage_alignment;
  return aligned + remainder;
}

}  // namespace forklift
