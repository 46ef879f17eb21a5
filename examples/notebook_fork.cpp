// A program that forks replicas of itself over one model, as a notebook does.
//
//     build/release/examples/notebook_fork examples/data 4
//
// The model and the digits are loaded once, here; every replica classifies its share of the test digits, and how many
// it got right comes back to this process.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <forklift/notebook_launcher.hpp>
#include <forklift/shared_model.hpp>
#include <variant>

#include "digits.hpp"

int main(int argc, char** argv) {
  const std::string data = argc > 1 ? argv[1] : "examples/data";
  const int replicas = argc > 2 ? std::atoi(argv[2]) : 4;

  const auto model = forklift::SharedModel::open(data + "/digits_linear.safetensors");
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return 1;
  }
  const auto weight = model.value().tensor("classifier.weight").value().as<float>().value();
  const auto bias = model.value().tensor("classifier.bias").value().as<float>().value();
  const std::vector<digits::Sample> samples = digits::load(data + "/digits.csv.gz");
  const auto test = digits::test_part(samples);

  const auto report = forklift::notebook_launcher(
      [&](forklift::Replica& self) {
        int right = 0;
        for (auto i = static_cast<std::size_t>(self.rank()); i < test.size();
             i += static_cast<std::size_t>(self.world_size())) {
          right += digits::is_right(weight, bias, test[i]) ? 1 : 0;
        }
        std::printf("%d right\n", right);
        return right;
      },
      {.num_processes = replicas});
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().message.c_str());
    return 1;
  }
  if (!report.value().succeeded()) return report.value().run.exit_status;

  std::int64_t right = 0;
  for (const forklift::ReplicaValue& value : report.value().values) right += std::get<std::int64_t>(value);
  std::printf("accuracy %.3f over %zu digits, by %d replicas\n",
              static_cast<double>(right) / static_cast<double>(test.size()), test.size(), replicas);
}
