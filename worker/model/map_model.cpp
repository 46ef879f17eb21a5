// A checked model in the memory of this process.
#include "worker/model/opened.hpp"
#include "worker/model/populate.hpp"

namespace forklift::weights {
namespace {

TensorView view_of(const ModelTensor& tensor, const std::vector<Region>& regions, ModelAccess access) {
  TensorView view;
  view.name = tensor.name;
  view.dtype = tensor.dtype;
  view.shape = tensor.shape;
  view.strides = tensor.strides;
  view.access = access;
  if (tensor.bytes > 0) view.bytes = {regions[tensor.part].data() + tensor.offset, tensor.bytes};
  return view;
}

}  // namespace

Result<std::shared_ptr<const Mapped>> map_model(std::shared_ptr<const Opened> opened, ModelAccess access,
                                                Prefault prefault) {
  const ModelLayout& layout = opened->layout;
  std::vector<Region> regions;
  for (const ModelPart& part : layout.parts) {
    auto region = Region::map(part, access);
    if (!region) return region.error();
    if (prefault == Prefault::yes) populate(region.value().data(), region.value().size());
    regions.push_back(std::move(region).value());
  }
  std::vector<TensorView> views;
  views.reserve(layout.tensors.size());
  for (const ModelTensor& tensor : layout.tensors) views.push_back(view_of(tensor, regions, access));

  auto mapped = std::make_shared<Mapped>(
      Mapped{std::move(opened), std::move(regions), std::move(views), TensorNames(layout.tensors), access, {}});
  mapped->watch = FaultWatch(layout, mapped->regions, mapped->views, access);
  return std::shared_ptr<const Mapped>(std::move(mapped));
}

}  // namespace forklift::weights
