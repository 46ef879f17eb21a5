// The handwritten digits of examples/data, for the examples in C++.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace digits {

inline constexpr std::size_t pixels = 64;
inline constexpr std::size_t classes = 10;
inline constexpr std::size_t test_samples = 360;  // The last ones of the file.

struct Sample {
  std::array<float, pixels> image{};  ///< 0 … 1
  std::size_t label = 0;
};

inline std::vector<Sample> load(const std::string& csv_gz) {
  const std::string command = "gzip -dc '" + csv_gz + "'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> lines(::popen(command.c_str(), "r"), &::pclose);
  std::vector<Sample> samples;
  char line[512];
  while (lines && std::fgets(line, sizeof line, lines.get()) != nullptr) {
    Sample sample;
    char* next = line;
    for (float& pixel : sample.image) pixel = static_cast<float>(std::strtol(next, &next, 10)) / 16.0F, ++next;
    sample.label = static_cast<std::size_t>(std::strtol(next, nullptr, 10));
    samples.push_back(sample);
  }
  if (samples.size() <= test_samples) throw std::runtime_error(csv_gz + " holds no digits");
  return samples;
}

inline std::span<const Sample> training_part(const std::vector<Sample>& all) {
  return std::span(all).first(all.size() - test_samples);
}
inline std::span<const Sample> test_part(const std::vector<Sample>& all) { return std::span(all).last(test_samples); }

/// Scores of a linear classifier; `weight` is classes x pixels.
inline std::array<float, classes> scores(std::span<const float> weight, std::span<const float> bias,
                                         const Sample& sample) {
  std::array<float, classes> sums{};
  for (std::size_t c = 0; c < classes; ++c) {
    sums[c] = bias[c];
    for (std::size_t p = 0; p < pixels; ++p) sums[c] += weight[c * pixels + p] * sample.image[p];
  }
  return sums;
}

inline bool is_right(std::span<const float> weight, std::span<const float> bias, const Sample& sample) {
  const auto sums = scores(weight, bias, sample);
  std::size_t best = 0;
  for (std::size_t c = 1; c < classes; ++c) best = sums[c] > sums[best] ? c : best;
  return best == sample.label;
}

}  // namespace digits
