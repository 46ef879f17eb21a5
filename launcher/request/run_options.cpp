// What to run.
#include <fmt/format.h>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/option_reader.hpp"

namespace forklift {
namespace {

constexpr std::string_view no_program = "no program given, expected: forklift launch [options] PROGRAM [arguments...]";

/// The way to run that these flags name together.
Result<RunAs> run_as(const GivenOptions& given, const std::string& program) {
  for (const std::string_view other : {"no-python", "run-path"})
    if (given.has("module") && given.has(other))
      return usage_error(fmt::format("--module and --{} contradict each other, give one of them", other));
  if (given.has("module")) return RunAs::module;
  if (given.has("run-path")) {  // Before --no-python, as in torchrun.
    if (program.ends_with(".py")) return RunAs::automatic;
    return usage_error(fmt::format("--run-path: got the program {}, expected a Python script (.py)", quoted(program)));
  }
  return given.has("no-python") ? RunAs::direct : RunAs::automatic;
}

}  // namespace

Result<void> fill_program(const GivenOptions& given, const SplitCommand& split, LaunchRequest& request) {
  if (split.program.empty()) return usage_error(std::string(no_program));
  const Result<RunAs> how = run_as(given, split.program);
  if (!how) return how.error();
  request.program = split.program;
  request.arguments = split.arguments;
  request.run_as = how.value();

  OptionReader reader(given);
  reader.text("python", request.python, "the path or name of a Python interpreter");
  reader.when_given("expand-arguments", request.expand_arguments, ArgumentExpansion::expand);
  return reader.result();
}

}  // namespace forklift
