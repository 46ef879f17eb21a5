// How many replicas on how many machines, and which machine this is, in either peer's words.
#include <fmt/format.h>

#include <cstdint>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/option_reader.hpp"
#include "launcher/request/twin_options.hpp"

namespace forklift {
namespace {

constexpr NumberRange process_range{1, 1'000'000};
constexpr NumberRange machine_range{1, 100'000};

bool is_size_flag_of(Tool tool, const Flag& flag) { return flag.tool == tool && flag.group == FlagGroup::size; }

bool any_given(const GivenOptions& given, Tool tool, Source source) {
  for (const auto& [name, option] : given)
    if (option.source == source && is_size_flag_of(tool, *option.flag)) return true;
  return false;
}

// The command line shows whose words the user speaks; PET_ variables count only where it shows nothing.
Dialect dialect_of(const GivenOptions& given) {
  if (any_given(given, Tool::torchrun, Source::command_line)) return Dialect::torchrun;
  if (any_given(given, Tool::accelerate, Source::command_line)) return Dialect::accelerate;
  if (any_given(given, Tool::torchrun, Source::environment)) return Dialect::torchrun;
  return Dialect::accelerate;
}

/// torchrun's "N" or "MIN:MAX"; both ends must be the same machine count.
std::optional<int> read_nnodes(OptionReader& reader, const GivenOptions& given) {
  const GivenOption* option = given.find("nnodes");
  if (option == nullptr) return std::nullopt;
  const std::string& text = option->text();
  const std::size_t colon = text.find(':');
  const std::optional<int> lowest = parse_number(std::string_view(text).substr(0, colon), machine_range);
  const std::optional<int> highest =
      colon == std::string::npos ? lowest : parse_number(std::string_view(text).substr(colon + 1), machine_range);
  if (!lowest || !highest)
    reader.fail(bad_value(*option, fmt::format("a number of machines from 1 to {}", machine_range.highest)));
  else if (*lowest != *highest)
    reader.fail(bad_value(*option, "one number of machines, elastic sizes are not supported in this version"));
  return lowest;
}

Result<void> fill_machines(const GivenOptions& given, LaunchRequest& request) {
  OptionReader reader(given);
  std::optional<int> machines;
  reader.number("num-machines", machine_range, machines);
  const std::optional<int> nodes = read_nnodes(reader, given);
  settle_twins(reader, given, Twin{"num-machines", machines}, Twin{"nnodes", nodes});
  request.num_machines = machines ? *machines : nodes.value_or(1);
  return reader.result();
}

Result<void> fill_machine_rank(const GivenOptions& given, LaunchRequest& request) {
  OptionReader reader(given);
  std::optional<int> rank;
  std::optional<int> node_rank;
  const NumberRange in_world{0, request.num_machines - 1};
  const auto parse = [in_world](std::string_view text) { return parse_number(text, in_world); };
  const std::string expected = request.num_machines == 1
                                   ? "0, as the job has one machine"
                                   : fmt::format("a whole number from 0 to {}, as the job has {} machines",
                                                 in_world.highest, request.num_machines);
  reader.read("machine-rank", rank, parse, expected);
  reader.read("node-rank", node_rank, parse, expected);
  settle_twins(reader, given, Twin{"machine-rank", rank}, Twin{"node-rank", node_rank});
  if (const std::optional<int> settled = rank ? rank : node_rank) request.machine_rank = NodeRank{*settled};
  return reader.result();
}

std::optional<ProcessCount> parse_per_node(std::string_view text) {
  if (text == "auto") return ProcessesPerNodeCounted{CountedBy::automatic};
  if (text == "cpu") return ProcessesPerNodeCounted{CountedBy::cpu};
  if (text == "gpu" || text == "xpu") return ProcessesPerNodeCounted{CountedBy::gpu};
  const std::optional<int> count = parse_number(text, process_range);
  if (!count) return std::nullopt;
  return ProcessesPerNode{*count};
}

/// Both were given: they must say the same.
void compare_counts(OptionReader& reader, const GivenOptions& given, int total, const LaunchRequest& request) {
  const auto* per_node = std::get_if<ProcessesPerNode>(&request.processes);
  if (per_node != nullptr && std::int64_t{per_node->count} * request.num_machines == total) return;
  reader.fail(
      contradiction(*given.find("num-processes"), *given.find("nproc-per-node"),
                    fmt::format("on {} machine{}", request.num_machines, request.num_machines == 1 ? "" : "s")));
}

Result<void> fill_processes(const GivenOptions& given, LaunchRequest& request) {
  OptionReader reader(given);
  std::optional<int> total;
  reader.number("num-processes", process_range, total);
  reader.read(
      "nproc-per-node", request.processes, parse_per_node,
      fmt::format("a whole number from {} to {}, auto, cpu or gpu", process_range.lowest, process_range.highest));
  if (auto wrong = reader.result(); !wrong) return wrong;

  if (total && given.has("nproc-per-node"))
    compare_counts(reader, given, *total, request);
  else if (total)
    request.processes = ProcessesInTotal{*total};
  else if (!given.has("nproc-per-node") && request.dialect == Dialect::torchrun) {
    // A torchrun command line without a number means one replica on each machine, whatever the machine has.
    request.processes = ProcessesPerNode{1};
    request.origins["num-processes"] = "default of torchrun: --nproc-per-node 1";
  }
  return reader.result();
}

}  // namespace

Result<void> fill_size(const GivenOptions& given, LaunchRequest& request) {
  request.dialect = dialect_of(given);
  for (const auto step : {fill_machines, fill_machine_rank, fill_processes})
    if (Result<void> done = step(given, request); !done) return done;
  OptionReader reader(given);
  reader.text("rdzv-id", request.rdzv_id, "a name for the job");
  reader.text("role", request.role, "a name for the role");
  return reader.result();
}

}  // namespace forklift
