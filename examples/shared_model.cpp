// One model for N replicas, each a program of its own: the launcher opens it once, every replica attaches.
//
//     forklift launch --num-processes 4 --model digits.safetensors build/release/examples/shared_model
//
// Every replica adds up its share of every tensor, straight from the shared pages; nobody has a copy.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <forklift/shared_model.hpp>
#include <forklift/worker.hpp>
#include <span>

int main() {
  const forklift::Replica self = forklift::Replica::from_environment();
  const auto& model = forklift::model();
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return 1;
  }
  double sum = 0;
  std::size_t read = 0;
  for (const forklift::TensorView& tensor : model.value().tensors()) {
    const auto elements = tensor.as<float>();
    if (!elements) continue;  // Of another type.
    const std::span<const float> all = elements.value();
    for (std::size_t i = static_cast<std::size_t>(self.rank()); i < all.size();
         i += static_cast<std::size_t>(self.world_size())) {
      sum += std::fabs(all[i]);
      ++read;
    }
  }
  std::printf("replica %d of %d: %zu weights, sum of magnitudes %.3f\n", self.rank(), self.world_size(), read, sum);
}
