#include "forklift/shared_model.hpp"

#include <fmt/core.h>

#include "worker/format/quoted.hpp"
#include "worker/model/opened.hpp"
#include "worker/model/populate.hpp"

namespace forklift {

Result<SharedModel> SharedModel::open(const std::string& path, const ModelOptions& options) {
  auto opened = weights::open_model(path, options);
  if (!opened) return opened.error();
  auto mapped = weights::map_model(std::move(opened).value(), options.access, options.prefault);
  if (!mapped) return mapped.error();
  return SharedModel(std::move(mapped).value());
}

Result<TensorView> SharedModel::tensor(std::string_view name) const {
  if (const auto place = mapped_->names.find(name)) return mapped_->views[*place];
  return Error{ErrorKind::usage, fmt::format("{} has no tensor {}, but {} others",
                                             path().empty() ? "the model" : "model " + in_quotes(path()),
                                             in_quotes(name), tensors().size())};
}

bool SharedModel::contains(std::string_view name) const { return mapped_->names.find(name).has_value(); }
std::span<const TensorView> SharedModel::tensors() const { return mapped_->views; }
NameGroups SharedModel::tied_groups() const { return forklift::tied_groups(mapped_->opened->layout); }
const std::string& SharedModel::path() const { return mapped_->opened->layout.path; }
std::uint64_t SharedModel::bytes() const { return mapped_->opened->bytes; }
ModelAccess SharedModel::access() const { return mapped_->access; }
const std::vector<std::string>& SharedModel::notes() const { return mapped_->opened->notes; }
std::string_view SharedModel::mapped_by() const { return weights::mapped_by(mapped_->opened->layout); }
std::optional<std::string> SharedModel::changed() const { return weights::changed(mapped_->opened->layout); }

void SharedModel::prefault() const {
  for (const weights::Region& region : mapped_->regions) weights::populate(region.data(), region.size());
}

Result<ModelHandle> SharedModel::share() const {
  auto shared = weights::share_model(mapped_->opened);
  if (!shared) return shared.error();
  return ModelHandle(std::move(shared).value());
}

}  // namespace forklift
