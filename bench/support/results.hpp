// What a bench has found: a table for people, JSON for machines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/options.hpp"
#include "bench/support/rounds.hpp"

namespace forklift::bench {

enum class Bound { at_most, at_least };

/// The value to reach, in the unit of the figure that it belongs to.
struct Bar {
  Bound bound;
  double value;
  [[nodiscard]] bool reached_by(double figure) const {
    return bound == Bound::at_most ? figure <= value : figure >= value;
  }
};

/// One line of the table.
struct Figure {
  std::string what;     ///< What was done, e.g. "start to all exited, 64 x /bin/true".
  std::string against;  ///< What it is compared with; empty: with nothing.
  std::string unit;     ///< Of `limit`, `ours` and the samples.
  std::optional<double> limit;
  double ours = 0;
  double figure = 0;        ///< What the bar speaks of.
  std::string figure_unit;  ///< "x" for a ratio.
  std::optional<Bar> bar;
  Samples samples;
};

/// Which way the ratio of two medians is to be read.
enum class Ratio {
  ours_to_limit,  ///< Ours over the limit: a time that should be small, a rate that should be large.
  limit_to_ours,  ///< The other over ours: "so many times faster" than a slower program.
};

/// What a comparison is about, without its numbers.
struct Comparison {
  std::string what;
  std::string against;
  std::string unit;
};

/// The ratio of the medians of `samples`.
Figure ratio_figure(const Comparison& comparison, Samples samples, Ratio ratio, std::optional<Bar> bar);

/// The median of ours minus that of the limit, in the samples' own unit.
Figure difference_figure(const Comparison& comparison, Samples samples, std::optional<Bar> bar);

/// A value that has no limit beside its bar.
Figure plain_figure(std::string what, double value, std::string unit, std::optional<Bar> bar);

/// Prints the table to standard output and, where the options say so, writes the JSON. Throws std::runtime_error if the
/// file cannot be written.
void publish(std::string_view bench, const std::vector<Figure>& figures, const Options& options);

}  // namespace forklift::bench
