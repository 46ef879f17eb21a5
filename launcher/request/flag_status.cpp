// What flags without a meaning of their own here do to a request, and where every option's value came from.
#include <fmt/format.h>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/flag_lookup.hpp"
#include "launcher/request/option_text.hpp"

namespace forklift {

Result<void> apply_flag_status(const GivenOptions& given, LaunchRequest& request) {
  for (const auto& [name, option] : given) {
    const Flag& flag = *option.flag;
    switch (flag.status) {
      case FlagStatus::honoured:
        break;
      case FlagStatus::inert:
        request.warnings.push_back(fmt::format("{} has no effect: {}", option.place, flag.text));
        break;
      case FlagStatus::refused:  // Without the value: it may be a secret key.
        return usage_error(fmt::format("{}: {} is not supported in this version", option.place, flag.text));
      case FlagStatus::dependent:
        request.warnings.push_back(fmt::format(
            "{} has no effect: it belongs to {}, which is not supported in this version", option.place, flag.text));
        break;
    }
  }
  return {};
}

void drop_overridden_twins(GivenOptions& given, LaunchRequest& request) {
  const auto drop = [&](const GivenOption& loser, const GivenOption& winner) {
    request.warnings.push_back(
        fmt::format("{}={} in the environment is overridden by {}", loser.place, quoted(loser.text()), winner.place));
    given.remove(loser.flag->name);
  };
  for (const Flag& flag : flag_table()) {
    if (flag.option.empty()) continue;
    const GivenOption* theirs = given.find(flag.name);
    const GivenOption* ours = given.find(flag.option);
    if (theirs == nullptr || ours == nullptr || theirs->source == ours->source) continue;
    if (theirs->source == Source::environment)
      drop(*theirs, *ours);
    else
      drop(*ours, *theirs);
  }
}

void record_origins(const GivenOptions& given, LaunchRequest& request) {
  for (const auto& [name, option] : given)
    if (option.flag->status == FlagStatus::honoured)
      request.origins.try_emplace(std::string(option.flag->option_name()), origin_of(option));
  for (const Flag& flag : flag_table())
    if (flag.status == FlagStatus::honoured && flag.name != "help")
      request.origins.try_emplace(std::string(flag.option_name()), "default");
}

}  // namespace forklift
