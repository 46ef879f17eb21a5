// A comparison within one run: both sides take turns, so that whatever the machine does meets both.
#pragma once

#include <functional>
#include <vector>

namespace forklift::bench {

/// One value of each side per round; the unit is the measurer's.
struct Samples {
  std::vector<double> limit;
  std::vector<double> ours;
};

using Measure = std::function<double()>;

/// limit, ours, limit, ours, …: `rounds` times, after one round that does not count (cold caches, first touches).
Samples interleave(int rounds, const Measure& limit, const Measure& ours);

/// `values` is not empty.
double median(std::vector<double> values);

}  // namespace forklift::bench
