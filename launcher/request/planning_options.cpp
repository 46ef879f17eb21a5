// The plan itself, and rules between options of different subjects.
#include <fmt/format.h>

#include <cstdint>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/option_reader.hpp"

namespace forklift {
namespace {

constexpr std::array<Word<OutputFormat>, 2> format_words{{{"text", OutputFormat::text}, {"json", OutputFormat::json}}};

constexpr std::int64_t largest_world = 1'000'000;

/// "--nproc-per-node" and the like: the first of the names that was given.
std::string place_of(const GivenOptions& given, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const GivenOption* option = given.find(name)) return option->place;
  return fmt::format("--{}", *names.begin());
}

/// Replicas over all machines; empty where that depends on what the machines have.
std::optional<std::int64_t> world_size(const LaunchRequest& request) {
  if (const auto* total = std::get_if<ProcessesInTotal>(&request.processes)) return total->count;
  if (const auto* per_node = std::get_if<ProcessesPerNode>(&request.processes))
    return std::int64_t{per_node->count} * request.num_machines;
  return std::nullopt;
}

Result<void> check_world(const GivenOptions& given, const LaunchRequest& request) {
  const std::optional<std::int64_t> world = world_size(request);
  if (!world) return {};
  const std::string place = place_of(given, {"num-processes", "nproc-per-node"});
  if (*world > largest_world)
    return usage_error(fmt::format("{}: got {} replicas on {} machines together, expected at most {}", place, *world,
                                   request.num_machines, largest_world));
  if (*world % request.num_machines != 0)
    return usage_error(fmt::format("{}: got {} replicas in total, expected a multiple of the {} machines", place,
                                   *world, request.num_machines));
  if (request.device == DeviceChoice::gpu && *world < 2)
    return usage_error(fmt::format("{}: got {}, expected 2 or more with --multi-gpu", place, *world));
  if (request.interactive_rank && request.interactive_rank->value >= *world)
    return usage_error(
        fmt::format("--interactive-rank: got {}, expected a rank from 0 to {}, as the job has {} "
                    "replica{}",
                    request.interactive_rank->value, *world - 1, *world, *world == 1 ? "" : "s"));
  return {};
}

Result<void> check_devices(const GivenOptions& given, const LaunchRequest& request) {
  const auto* counted = std::get_if<ProcessesPerNodeCounted>(&request.processes);
  if (request.device == DeviceChoice::cpu && counted != nullptr && counted->by == CountedBy::gpu)
    return usage_error(fmt::format("--cpu and {} {} contradict each other, give one of them",
                                   place_of(given, {"nproc-per-node"}), given.find("nproc-per-node")->text()));
  return {};
}

Result<void> check_restarts(const GivenOptions& given, const LaunchRequest& request) {
  if (request.num_machines == 1 || request.restart.max_restarts == 0) return {};
  return usage_error(
      fmt::format("{}: got {}, expected 0 with {} machines, which cannot restart together in this "
                  "version",
                  place_of(given, {"max-restarts"}), request.restart.max_restarts, request.num_machines));
}

}  // namespace

Result<void> fill_planning(const GivenOptions& given, LaunchRequest& request) {
  OptionReader reader(given);
  reader.when_given("dry-run", request.mode, RunMode::dry_run);
  reader.word("format", format_words, request.format);
  reader.text("host-facts", request.host_facts_file, "a file made by forklift env --format json");
  const GivenOption* config_file = given.find("config-file");
  if (config_file != nullptr && config_file->text() != "none")
    reader.fail(bad_value(*config_file, "none, configuration files are not supported in this version"));
  return reader.result();
}

Result<void> check_contradictions(const GivenOptions& given, LaunchRequest& request) {
  for (const auto check : {check_world, check_devices, check_restarts})
    if (Result<void> done = check(given, request); !done) return done;
  if (request.mode == RunMode::dry_run) return {};
  if (given.has("host-facts"))
    return usage_error("--host-facts plans for another machine, expected --dry-run beside it");
  if (given.has("format")) request.warnings.emplace_back("--format has no effect without --dry-run");
  return {};
}

}  // namespace forklift
