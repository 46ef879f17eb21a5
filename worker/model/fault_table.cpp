#include "worker/model/fault_table.hpp"

#include <array>
#include <atomic>

namespace forklift::weights {
namespace {

std::array<std::atomic<const FaultRegion*>, 4096> table{};
static_assert(std::atomic<const FaultRegion*>::is_always_lock_free);
/// Places from here on were never used: what a handler need not look at.
std::atomic<std::size_t> used{0};

void enter(const FaultRegion* region) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const FaultRegion* nobody = nullptr;
    if (!table[i].compare_exchange_strong(nobody, region)) continue;
    std::size_t seen = used.load();
    while (seen < i + 1 && !used.compare_exchange_weak(seen, i + 1)) {
    }
    return;
  }
}

}  // namespace

FaultWatch::FaultWatch(const ModelLayout& layout, const std::vector<Region>& regions,
                       std::span<const TensorView> tensors, ModelAccess access) {
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const ModelPart& part = layout.parts[i];
    const auto begin = reinterpret_cast<std::uintptr_t>(regions[i].data());
    const std::string& path = part.path.empty() ? layout.path : part.path;
    regions_.push_back(std::make_unique<const FaultRegion>(FaultRegion{
        begin, begin + regions[i].size(), access, part.kind, path.c_str(), part.descriptor, part.identity, tensors}));
    enter(regions_.back().get());
  }
}

FaultWatch& FaultWatch::operator=(FaultWatch&& other) noexcept {
  if (this != &other) {
    leave();
    regions_ = std::move(other.regions_);
  }
  return *this;
}

FaultWatch::~FaultWatch() { leave(); }

void FaultWatch::leave() {
  for (const auto& region : regions_) {
    for (auto& place : table) {
      const FaultRegion* mine = region.get();
      if (place.compare_exchange_strong(mine, nullptr)) break;
    }
  }
  regions_.clear();
}

const FaultRegion* find_fault_region(std::uintptr_t address) noexcept {
  const std::size_t end = used.load();
  for (std::size_t i = 0; i < end; ++i) {
    const FaultRegion* region = table[i].load();
    if (region != nullptr && address >= region->begin && address < region->end) return region;
  }
  return nullptr;
}

}  // namespace forklift::weights
