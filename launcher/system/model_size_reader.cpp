#include "launcher/system/model_size_reader.hpp"

#include <set>

#include "forklift/shared_model.hpp"

namespace forklift {

// Mapped and never touched: that costs no memory and tells where tied names share their bytes.
Result<ModelSize> read_model_size(const std::string& path) {
  const auto model = SharedModel::open(path);
  if (!model) return Error{ErrorKind::usage, "--model: " + model.error().message};
  std::vector<TensorSize> sizes;
  std::set<const std::byte*> counted;
  for (const TensorView& tensor : model.value().tensors()) {
    if (!tensor.bytes.empty() && !counted.insert(tensor.bytes.data()).second) continue;
    sizes.push_back({std::string(tensor.name), std::string(name_of(tensor.dtype)), tensor.elements(),
                     static_cast<std::uint64_t>(tensor.bytes.size())});
  }
  return model_size_of(sizes);
}

}  // namespace forklift
