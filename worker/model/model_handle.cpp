#include "forklift/shared_model.hpp"
#include "worker/format/model_manifest.hpp"
#include "worker/model/opened.hpp"
#include "worker/model/store.hpp"

namespace forklift {

namespace weights {

std::string_view mapped_by(const ModelLayout& layout) {
  return name_of(layout.parts.empty() ? PartKind::memfd : layout.parts.front().kind);
}

Result<std::shared_ptr<const Shared>> share_model(std::shared_ptr<const Opened> opened) {
  auto manifest = sealed_memfd("forklift-manifest", encode_manifest(opened->layout));
  if (!manifest) return manifest.error();
  auto shared = std::make_shared<Shared>(Shared{std::move(opened), std::move(manifest).value()});
  return std::shared_ptr<const Shared>(std::move(shared));
}

}  // namespace weights

Result<ModelHandle> ModelHandle::open(const std::string& path, const ModelOptions& options) {
  auto opened = weights::open_model(path, options);
  if (!opened) return opened.error();
  auto shared = weights::share_model(std::move(opened).value());
  if (!shared) return shared.error();
  return ModelHandle(std::move(shared).value());
}

std::vector<int> ModelHandle::descriptors() const {
  std::vector<int> numbers{shared_->manifest.get()};
  for (const ModelPart& part : shared_->opened->layout.parts) numbers.push_back(part.descriptor);
  return numbers;
}

std::string ModelHandle::environment_value(std::span<const int> numbers) const {
  const std::vector<int> own = descriptors();
  if (numbers.empty()) numbers = own;
  return descriptors_text({numbers.front(), {numbers.begin() + 1, numbers.end()}});
}

Result<SharedModel> ModelHandle::map(Prefault prefault) const {
  auto mapped = weights::map_model(shared_->opened, shared_->opened->layout.access, prefault);
  if (!mapped) return mapped.error();
  return SharedModel(std::move(mapped).value());
}

const std::string& ModelHandle::path() const { return shared_->opened->layout.path; }
std::uint64_t ModelHandle::bytes() const { return shared_->opened->bytes; }
std::size_t ModelHandle::tensor_count() const { return shared_->opened->layout.tensors.size(); }
NameGroups ModelHandle::tied_groups() const { return forklift::tied_groups(shared_->opened->layout); }
ModelAccess ModelHandle::access() const { return shared_->opened->layout.access; }
const std::vector<std::string>& ModelHandle::notes() const { return shared_->opened->notes; }
std::string_view ModelHandle::mapped_by() const { return weights::mapped_by(shared_->opened->layout); }
std::optional<std::string> ModelHandle::changed() const { return weights::changed(shared_->opened->layout); }

}  // namespace forklift
