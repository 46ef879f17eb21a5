#include "bench/support/results.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "bench/support/machine.hpp"

namespace forklift::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string with_unit(double value, const std::string& unit) {
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string bar_text(const Figure& figure) {
  if (!figure.bar) return "";
  return (figure.bar->bound == Bound::at_most ? "<= " : ">= ") + with_unit(figure.bar->value, figure.figure_unit);
}

std::string verdict(const Figure& figure) {
  if (!figure.bar) return "";
  return figure.bar->reached_by(figure.figure) ? "reached" : "MISSED";
}

using Row = std::vector<std::string>;

Row row_of(const Figure& figure) {
  return {figure.what,
          figure.against,
          figure.limit ? with_unit(*figure.limit, figure.unit) : "",
          with_unit(figure.ours, figure.unit),
          with_unit(figure.figure, figure.figure_unit),
          bar_text(figure),
          verdict(figure)};
}

void print(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      line += fmt::format("{:<{}}  ", row[column], widths[column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

Json to_json(const Figure& figure) {
  Json json = {{"what", figure.what}, {"unit", figure.unit}, {"ours", figure.ours}};
  if (!figure.against.empty()) json["against"] = figure.against;
  if (figure.limit) json["limit"] = *figure.limit;
  json["figure"] = figure.figure;
  json["figure_unit"] = figure.figure_unit;
  if (figure.bar) {
    json["bar"] = {{figure.bar->bound == Bound::at_most ? "at_most" : "at_least", figure.bar->value}};
    json["reached"] = figure.bar->reached_by(figure.figure);
  }
  if (!figure.samples.ours.empty()) {
    json["samples"] = {{"limit", figure.samples.limit}, {"ours", figure.samples.ours}};
  }
  return json;
}

Json to_json(const Machine& machine) {
  return {{"cpus", machine.cpus},
          {"cpu_model", machine.cpu_model},
          {"kernel", machine.kernel},
          {"memory_bytes", machine.memory_bytes},
          {"date", machine.date}};
}

Figure compared(const Comparison& comparison, Samples samples, std::optional<Bar> bar) {
  Figure figure;
  figure.what = comparison.what;
  figure.against = comparison.against;
  figure.unit = comparison.unit;
  figure.limit = median(samples.limit);
  figure.ours = median(samples.ours);
  figure.bar = bar;
  figure.samples = std::move(samples);
  return figure;
}

}  // namespace

Figure ratio_figure(const Comparison& comparison, Samples samples, Ratio ratio, std::optional<Bar> bar) {
  Figure figure = compared(comparison, std::move(samples), bar);
  figure.figure = ratio == Ratio::ours_to_limit ? figure.ours / *figure.limit : *figure.limit / figure.ours;
  figure.figure_unit = "x";
  return figure;
}

Figure difference_figure(const Comparison& comparison, Samples samples, std::optional<Bar> bar) {
  Figure figure = compared(comparison, std::move(samples), bar);
  figure.figure = figure.ours - *figure.limit;
  figure.figure_unit = comparison.unit;
  return figure;
}

Figure plain_figure(std::string what, double value, std::string unit, std::optional<Bar> bar) {
  Figure figure;
  figure.what = std::move(what);
  figure.unit = unit;
  figure.figure_unit = std::move(unit);
  figure.ours = value;
  figure.figure = value;
  figure.bar = bar;
  return figure;
}

void publish(std::string_view bench, const std::vector<Figure>& figures, const Options& options) {
  const Machine machine = this_machine();
  fmt::print("{}: {} cpus ({}), Linux {}, {}\n", bench, machine.cpus, machine.cpu_model, machine.kernel, machine.date);
  std::vector<Row> rows{{"what", "against", "limit", "forklift", "figure", "bar", ""}};
  for (const Figure& figure : figures) rows.push_back(row_of(figure));
  print(rows);

  if (!options.json) return;
  Json json = {{"version", 1}, {"bench", bench}, {"machine", to_json(machine)}, {"figures", Json::array()}};
  for (const Figure& figure : figures) json["figures"].push_back(to_json(figure));
  std::ofstream file(*options.json);
  file << json.dump(2) << '\n';
  file.close();
  if (!file) throw std::runtime_error("--json: " + options.json->string() + " cannot be written");
}

}  // namespace forklift::bench
