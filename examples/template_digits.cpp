// A program with a fork point: what stands before it happens once, what stands behind it once per replica.
//
//     forklift launch --template --num-processes 4 build/release/examples/template_digits examples/data
//
// Started without --template it does the same, loading once per replica; alone it is rank 0 of 1.
#include <cstdio>
#include <forklift/shared_model.hpp>
#include <forklift/worker.hpp>

#include "digits.hpp"

int main(int argc, char** argv) {
  const std::string data = argc > 1 ? argv[1] : "examples/data";
  const auto model = forklift::SharedModel::open(data + "/digits_linear.safetensors");
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return 1;
  }
  const std::vector<digits::Sample> samples = digits::load(data + "/digits.csv.gz");
  std::printf("loaded %zu digits\n", samples.size());

  const forklift::Replica& self = forklift::fork_point();

  const auto weight = model.value().tensor("classifier.weight").value().as<float>().value();
  const auto bias = model.value().tensor("classifier.bias").value().as<float>().value();
  const auto test = digits::test_part(samples);
  std::size_t right = 0;
  std::size_t seen = 0;
  for (auto i = static_cast<std::size_t>(self.rank()); i < test.size();
       i += static_cast<std::size_t>(self.world_size())) {
    right += digits::is_right(weight, bias, test[i]) ? 1U : 0U;
    self.heartbeat(static_cast<std::int64_t>(++seen));
  }
  std::printf("replica %d of %d: %zu of %zu right\n", self.rank(), self.world_size(), right, seen);
}
