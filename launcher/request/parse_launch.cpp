#include "launcher/request/parse_launch.hpp"

#include <array>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/given_options.hpp"
#include "launcher/request/split_command.hpp"

namespace forklift {

Result<LaunchRequest> parse_launch(const std::vector<std::string>& words, const Environment& environment) {
  const Result<SplitCommand> split = split_command(words);
  if (!split) return split.error();
  Result<GivenOptions> options = given_options(split.value().head, environment);
  if (!options) return options.error();
  GivenOptions& given = options.value();

  LaunchRequest request;
  request.command = {"forklift", "launch"};
  request.command.insert(request.command.end(), words.begin(), words.end());
  if (const auto status = apply_flag_status(given, request); !status) return status.error();
  drop_overridden_twins(given, request);
  if (const auto program = fill_program(given, split.value(), request); !program) return program.error();

  constexpr std::array steps{fill_size,   fill_address,     fill_devices,  fill_environment,
                             fill_output, fill_supervision, fill_planning, check_contradictions};
  for (const auto step : steps)
    if (const Result<void> done = step(given, request); !done) return done.error();
  record_origins(given, request);
  return request;
}

}  // namespace forklift
