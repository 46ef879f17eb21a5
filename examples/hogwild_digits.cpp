// Hogwild: replicas train one set of weights in shared memory at the same time, without locks and without copies.
//
//     build/release/examples/hogwild_digits examples/data 4
//
// Every replica takes its share of the digits and adds its steps to the weights that all of them see. The accuracy is
// compared with that of one process that takes all the steps itself.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <forklift/model_builder.hpp>
#include <forklift/notebook_launcher.hpp>
#include <forklift/shared_model.hpp>

#include "digits.hpp"

namespace {

constexpr int epochs = 30;
constexpr float step = 0.05F;

/// Many processes read and write the element at once: each access is atomic, and no order is asked for.
float load(float& element) { return std::atomic_ref(element).load(std::memory_order_relaxed); }
void add(float& element, float change) { std::atomic_ref(element).fetch_add(change, std::memory_order_relaxed); }

void take_step(std::span<float> weight, std::span<float> bias, const digits::Sample& sample) {
  std::array<float, digits::classes> p{};
  for (std::size_t c = 0; c < digits::classes; ++c) {
    p[c] = load(bias[c]);
    for (std::size_t i = 0; i < digits::pixels; ++i) p[c] += load(weight[c * digits::pixels + i]) * sample.image[i];
  }
  const float highest = *std::max_element(p.begin(), p.end());
  float sum = 0;
  for (float& each : p) sum += each = std::exp(each - highest);
  for (std::size_t c = 0; c < digits::classes; ++c) {
    const float gradient = p[c] / sum - (c == sample.label ? 1.0F : 0.0F);
    for (std::size_t i = 0; i < digits::pixels; ++i) {
      if (sample.image[i] != 0) add(weight[c * digits::pixels + i], -step * gradient * sample.image[i]);
    }
    add(bias[c], -step * gradient);
  }
}

void train(std::span<float> weight, std::span<float> bias, std::span<const digits::Sample> samples, std::size_t first,
           std::size_t stride) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (std::size_t i = first; i < samples.size(); i += stride) take_step(weight, bias, samples[i]);
  }
}

double accuracy(std::span<const float> weight, std::span<const float> bias, std::span<const digits::Sample> test) {
  const auto right = std::count_if(
      test.begin(), test.end(), [&](const digits::Sample& sample) { return digits::is_right(weight, bias, sample); });
  return static_cast<double>(right) / static_cast<double>(test.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<digits::Sample> samples =
      digits::load((argc > 1 ? argv[1] : "examples/data") + std::string("/digits.csv.gz"));
  const int replicas = argc > 2 ? std::atoi(argv[2]) : 4;
  const auto training = digits::training_part(samples);
  const auto test = digits::test_part(samples);

  std::vector<float> alone_weight(digits::classes * digits::pixels);
  std::vector<float> alone_bias(digits::classes);
  forklift::SharedModel::Builder builder;
  for (const auto& added :
       {builder.add({.name = "weight", .shape = {digits::classes, digits::pixels}, .data = alone_weight.data()}),
        builder.add({.name = "bias", .shape = {digits::classes}, .data = alone_bias.data()})}) {
    if (!added) return std::fprintf(stderr, "%s\n", added.error().message.c_str()), 1;
  }
  const auto model = builder.finish({.access = forklift::ModelAccess::shared});
  if (!model) return std::fprintf(stderr, "%s\n", model.error().message.c_str()), 1;
  const auto weight = model.value().tensor("weight").value().as_writable<float>().value();
  const auto bias = model.value().tensor("bias").value().as_writable<float>().value();

  const auto report = forklift::notebook_launcher(
      [&](forklift::Replica& self) {
        train(weight, bias, training, static_cast<std::size_t>(self.rank()),
              static_cast<std::size_t>(self.world_size()));
      },
      {.num_processes = replicas});
  if (!report) return std::fprintf(stderr, "%s\n", report.error().message.c_str()), 1;
  if (!report.value().succeeded()) return report.value().run.exit_status;

  train(alone_weight, alone_bias, training, 0, 1);
  std::printf("accuracy %.3f by %d replicas on shared weights, %.3f by one process\n", accuracy(weight, bias, test),
              replicas, accuracy(alone_weight, alone_bias, test));
}
