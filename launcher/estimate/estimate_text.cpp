#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "launcher/estimate/describe_estimate.hpp"
#include "worker/format/byte_text.hpp"

namespace forklift {
namespace {

std::string_view label_of(StartWay way) {
  switch (way) {
    case StartWay::built_in_each:
      return "built or loaded in each process";
    case StartWay::forked_read:
      return "built once, forked, only read";
    case StartWay::forked_written:
      return "built once, forked, written to";
    case StartWay::pickled:
      return "built once, pickled to spawned processes";
    case StartWay::one_after_another:
      return "in each, one at a time, then on a device";
    case StartWay::shared:
      return "forklift launch --model, SharedModel";
  }
  return {};
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : noun.ends_with('s') ? "es" : "s");
}

std::string head(const MemoryEstimate& estimate, const EstimateSubject& subject) {
  const ModelSize& model = estimate.model;
  std::string stored;
  for (const auto& [dtype, bytes] : model.bytes_by_dtype) stored += (stored.empty() ? "" : ", ") + dtype;
  std::string text =
      fmt::format("model      {}{} as stored{}\n", subject.model_path.empty() ? "" : subject.model_path + ": ",
                  format_bytes(model.bytes), stored.empty() ? "" : " (" + stored + ")");
  if (model.tensors != 0) text += fmt::format("           {}\n", plural(model.tensors, "tensor"));
  if (!subject.hostname.empty()) text += fmt::format("machine    {}\n", subject.hostname);
  const bool machine = estimate.room.bound == MemoryRoom::Bound::machine;
  text += fmt::format("memory     {} {}\n", format_bytes(estimate.room.bytes),
                      machine ? "available" : "left by the limit of its control group");
  return text + fmt::format("processes  {}\n", estimate.processes);
}

std::string ways_table(const MemoryEstimate& estimate) {
  std::string text =
      fmt::format("\n{:<42}{:>8}{:>14}   {}\n", "How the processes get the model", "copies", "memory", "fits");
  for (const WayEstimate& one : estimate.ways) {
    text += fmt::format("  {:<40}{:>8}{:>14}   {}\n", label_of(one.way), one.copies, format_bytes(one.bytes),
                        one.fit == WayEstimate::Fit::yes ? "yes" : "no");
  }
  return text;
}

/// What to make of the table.
std::string verdict(const MemoryEstimate& estimate) {
  const std::string room = format_bytes(estimate.room.bytes);
  const std::string once = format_bytes(estimate.model.bytes);
  if (estimate_of(estimate, StartWay::shared).fit == WayEstimate::Fit::no) {
    return fmt::format(
        "It does not fit, not even once: {} of model, {} of memory.\n"
        "Store it in a smaller type, split it over machines, or use a larger one.\n",
        once, room);
  }
  const WayEstimate& copies = estimate_of(estimate, StartWay::built_in_each);
  if (copies.fit == WayEstimate::Fit::yes) {
    return fmt::format("It fits, also with a copy in each process: {} of {}.\n", format_bytes(copies.bytes), room);
  }
  return fmt::format(
      "It fits when the model is shared: {}, once for all {} processes.\n"
      "With a copy in each there is room for {}.\n",
      once, estimate.processes, plural(most_processes_with_copies(estimate), "process"));
}

constexpr std::string_view what_is_not_counted =
    "\n"
    "Not counted: what Python and its libraries take in each process, data loading,\n"
    "activations. A shared model stays one copy while it is only read or moved to a\n"
    "device; training it in place on the CPU makes a copy in each process. torch's\n"
    "own multiprocessing pickles no tensor, it moves it to /dev/shm: one copy.\n";

std::string precisions_table(const MemoryEstimate& estimate) {
  std::string text = fmt::format(
      "\nFor one process, as accelerate estimate-memory counts (1 KB = 1024 bytes):\n"
      "  {:<10}{:>16}{:>14}{:>22}\n",
      "dtype", "largest layer", "total size", "training with Adam");
  const auto size = [](const std::optional<std::uint64_t>& bytes, std::string_view otherwise) {
    return bytes ? convert_bytes(*bytes) : std::string(otherwise);
  };
  for (const PrecisionEstimate& row : estimate.precisions) {
    text += fmt::format("  {:<10}{:>16}{:>14}{:>22}\n", row.dtype, size(row.largest_layer, "not known"),
                        convert_bytes(row.total), size(row.training, "N/A"));
  }
  return text;
}

}  // namespace

std::string convert_bytes(std::uint64_t bytes) {
  constexpr double step = 1024.0;
  constexpr std::array<std::string_view, 5> units{"KB", "MB", "GB", "TB", "PB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double amount = static_cast<double>(bytes) / step;
  std::size_t unit = 0;
  while (amount >= step && unit + 1 < units.size()) {
    amount /= step;
    ++unit;
  }
  std::string text = fmt::format("{:.2f}", amount);
  if (text.ends_with('0')) text.pop_back();  // One decimal stays, as Python prints a rounded number.
  return fmt::format("{} {}", text, units[unit]);
}

std::string estimate_text(const MemoryEstimate& estimate, const EstimateSubject& subject) {
  return head(estimate, subject) + ways_table(estimate) + "\n" + verdict(estimate) + std::string(what_is_not_counted) +
         precisions_table(estimate);
}

}  // namespace forklift
