// Stopping, restarting, time limits.
#include <fmt/format.h>

#include <algorithm>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/request/fill_request.hpp"
#include "launcher/request/option_reader.hpp"

namespace forklift {
namespace {

constexpr std::string_view causes_form =
    "causes between commas, each a category as report.json has it: python_exception, segmentation_fault, exit_code, "
    "out_of_memory, killed_from_outside, port_in_use, preempted, collective_timeout, device_lost, …";

// These never start a second attempt (they would fail the same way, or the user wants to stop).
constexpr std::array never_retried{Category::interrupted, Category::failed_to_start};

/// Category words between commas; each must be one that a restart can follow.
Result<void> read_restart_causes(const GivenOptions& given, RestartRules& rules) {
  const GivenOption* option = given.find("restart-on");
  if (option == nullptr) return {};
  std::vector<Category> causes;
  for (const std::string_view word : split_at(option->text(), ',')) {
    const std::optional<Category> cause = category_of_name(word);
    if (!cause) return usage_error(fmt::format("{}: got {}, expected {}", option->place, quoted(word), causes_form));
    if (std::ranges::find(never_retried, *cause) != never_retried.end())
      return usage_error(
          fmt::format("{}: got {}, expected a cause that a restart can help", option->place, quoted(word)));
    if (std::ranges::find(causes, *cause) == causes.end()) causes.push_back(*cause);
  }
  rules.only_on = std::move(causes);
  return {};
}

constexpr std::array<Word<MemoryCheck>, 3> memory_words{
    {{"warn", MemoryCheck::warn}, {"refuse", MemoryCheck::refuse}, {"off", MemoryCheck::off}}};

struct CheckpointSignal {
  int signal = 0;
  std::optional<Duration> lead;
};

/// "USR1" or "USR1@TIME".
std::optional<CheckpointSignal> parse_checkpoint_signal(std::string_view text) {
  const std::size_t at = text.find('@');
  const std::optional<int> signal = parse_handled_signal(text.substr(0, at));
  if (!signal) return std::nullopt;
  if (at == std::string_view::npos) return CheckpointSignal{*signal, std::nullopt};
  const std::optional<Duration> lead = parse_duration(text.substr(at + 1));
  if (!lead) return std::nullopt;
  return CheckpointSignal{*signal, lead};
}

std::optional<Duration> parse_positive_duration(std::string_view text) {
  const std::optional<Duration> duration = parse_duration(text);
  return duration && *duration > Duration{0} ? duration : std::nullopt;
}

constexpr std::string_view positive_time = "a time above 0: seconds, as 30 or 1.5, or 90s, 10m, 2h, HH:MM:SS";

Result<void> read_time_rules(const GivenOptions& given, LaunchRequest& request) {
  OptionReader reader(given);
  CheckpointSignal checkpoint;
  reader.read("time-limit", request.time.limit, parse_positive_duration, positive_time);
  reader.read("checkpoint-signal", checkpoint, parse_checkpoint_signal,
              "a signal that a program can handle, as USR1, or USR1@120 (seconds before the time limit)");
  request.time.checkpoint_signal = checkpoint.signal;
  if (checkpoint.lead) request.time.checkpoint_lead = *checkpoint.lead;
  if (auto wrong = reader.result(); !wrong || checkpoint.signal == 0) return wrong;

  if (!request.time.limit)
    request.warnings.emplace_back("--checkpoint-signal has no effect without --time-limit");
  else if (request.time.checkpoint_lead >= *request.time.limit)
    return usage_error(
        fmt::format("--checkpoint-signal: {} s before the end is not within the --time-limit of {}, "
                    "expected a shorter time, as {}@TIME",
                    std::chrono::duration<double>(request.time.checkpoint_lead).count(),
                    quoted(given.find("time-limit")->text()), signal_name(checkpoint.signal)));
  return {};
}

// torchrun's choice of how Python makes its workers means nothing here: a replica is started by an exec, which is its
// `spawn`. Only `template` is ours.
Result<void> check_start_method(const GivenOptions& given, LaunchRequest& request) {
  const GivenOption* option = given.find("start-method");
  if (given.has("template")) {
    request.start_method = StartMethod::from_template;
    if (given.has("expand-arguments"))
      return usage_error(
          "--template and --expand-arguments contradict each other: the template's arguments are those of all "
          "replicas");
    if (option != nullptr && option->text() != "template")
      return usage_error(
          fmt::format("--template and {} {} contradict each other, give one of them", option->place, option->text()));
  }
  if (option == nullptr) return {};
  const std::string& method = option->text();
  if (method == "template") {
    request.start_method = StartMethod::from_template;
    return {};
  }
  if (method != "spawn" && method != "fork" && method != "forkserver")
    return bad_value(*option, "template, spawn, fork or forkserver");
  if (method != "spawn")
    request.warnings.push_back(
        fmt::format("{} {} has no effect: replicas are started by spawn", option->place, method));
  return {};
}

void warn_of_idle_restart_rules(const GivenOptions& given, LaunchRequest& request) {
  if (request.restart.max_restarts > 0) return;
  for (const std::string_view name : {"restart-window", "restart-on"})
    if (given.has(name)) request.warnings.push_back(fmt::format("--{} has no effect without --max-restarts", name));
}

}  // namespace

Result<void> fill_supervision(const GivenOptions& given, LaunchRequest& request) {
  OptionReader reader(given);
  reader.duration("shutdown-timeout", request.stop.shutdown_timeout);
  reader.duration("kill-timeout", request.stop.kill_timeout);
  reader.number("max-restarts", {0, 1'000'000}, request.restart.max_restarts);
  reader.read("restart-window", request.restart.window, parse_positive_duration, positive_time);
  reader.when_given("isolate", request.isolation, Isolation::requested);
  reader.word("memory-check", memory_words, request.memory.check);
  if (auto wrong = reader.result(); !wrong) return wrong;
  if (auto causes = read_restart_causes(given, request.restart); !causes) return causes;
  warn_of_idle_restart_rules(given, request);
  if (auto times = read_time_rules(given, request); !times) return times;
  return check_start_method(given, request);
}

}  // namespace forklift
