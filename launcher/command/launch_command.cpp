// `forklift launch`
#include <cstdio>
#include <utility>

#include "launcher/command/verbs.hpp"
#include "launcher/launch.hpp"
#include "launcher/plan/describe_plan.hpp"
#include "launcher/request/help.hpp"
#include "launcher/request/parse_launch.hpp"

namespace forklift::command {
namespace {

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "forklift: warning: %s\n", warning.c_str());
}

int dry_run(const LaunchRequest& request, const Environment& environment) {
  const auto plan = plan_launch(request, environment, "");
  if (!plan) return fail(plan.error());
  const std::string text = request.format == OutputFormat::json ? plan_json(plan.value()) : plan_text(plan.value());
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int launch(const Call& call) {
  if (asks_for_help(call.words)) {
    std::fputs(launch_help().c_str(), stdout);
    return 0;
  }
  auto request = parse_launch(call.words, call.environment);
  if (!request) return fail(request.error());
  request.value().command = call.whole;
  if (request.value().mode == RunMode::dry_run) return dry_run(request.value(), call.environment);

  auto inputs = prepare_run(request.value(), call.environment, call.clock);
  if (!inputs) return fail(inputs.error());
  if (request.value().chatter == Chatter::normal) print_warnings(inputs.value().plan.warnings);
  return run_prepared(std::move(inputs).value());
}

}  // namespace forklift::command
