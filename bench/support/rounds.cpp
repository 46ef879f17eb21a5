#include "bench/support/rounds.hpp"

#include <algorithm>

namespace forklift::bench {

Samples interleave(int rounds, const Measure& limit, const Measure& ours) {
  limit();
  ours();
  Samples samples;
  for (int round = 0; round < rounds; ++round) {
    samples.limit.push_back(limit());
    samples.ours.push_back(ours());
  }
  return samples;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace forklift::bench
