#include "launcher/request/given_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>
#include <optional>

#include "launcher/request/option_text.hpp"

namespace forklift {
namespace {

namespace po = boost::program_options;
using Values = std::vector<std::string>;

/// One setting from outside the command line.
struct VariableSetting {
  const Flag* flag = nullptr;
  std::string variable;
  Values values;
};

// Program_options keeps the values and the precedence between sources (what is stored first wins). The values stay text
// here: a rule about them belongs to the file of its option, where it gets a sentence of its own.
po::options_description describe_flags() {
  po::options_description description;
  for (const Flag& flag : flag_table())
    description.add_options()(std::string(flag.name).c_str(), po::value<Values>(), "");
  return description;
}

po::option as_option(const Flag& flag, Values values) { return po::option{std::string(flag.name), std::move(values)}; }

enum class SwitchSetting { on, off, neither };

SwitchSetting switch_setting(std::string_view text) {
  constexpr std::array on{"1", "true", "yes", "on"};
  constexpr std::array off{"0", "false", "no", "off"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (std::ranges::find(on, lower) != on.end()) return SwitchSetting::on;
  if (std::ranges::find(off, lower) != off.end()) return SwitchSetting::off;
  return SwitchSetting::neither;
}

std::vector<std::string> variables_of(const Flag& flag) {
  std::vector<std::string> variables;
  if (flag.known_to_torchrun()) variables.push_back(torchrun_variable(flag));
  if (!flag.variable.empty()) variables.emplace_back(flag.variable);
  return variables;
}

/// The first of the flag's variables that says something.
Result<std::optional<VariableSetting>> setting_from(const Environment& environment, const Flag& flag) {
  for (std::string& variable : variables_of(flag)) {
    const auto found = environment.find(variable);
    if (found == environment.end() || found->second.empty()) continue;
    if (flag.takes_value()) return std::optional(VariableSetting{&flag, std::move(variable), {found->second}});
    switch (switch_setting(found->second)) {
      case SwitchSetting::on:
        return std::optional(VariableSetting{&flag, std::move(variable), {}});
      case SwitchSetting::off:
        return std::optional<VariableSetting>();
      case SwitchSetting::neither:
        return usage_error(fmt::format("{}: got {}, expected 0 or 1", variable, quoted(found->second)));
    }
  }
  return std::optional<VariableSetting>();
}

Result<std::vector<VariableSetting>> settings_from(const Environment& environment) {
  std::vector<VariableSetting> settings;
  for (const Flag& flag : flag_table()) {
    auto setting = setting_from(environment, flag);
    if (!setting) return setting.error();
    if (setting.value()) settings.push_back(std::move(*setting.value()));
  }
  return settings;
}

}  // namespace

const std::string& GivenOption::text() const {
  static const std::string none;
  return values.empty() ? none : values.back();
}

std::string origin_of(const GivenOption& option) {
  const std::string& text = option.text();
  switch (option.source) {
    case Source::command_line:
      return fmt::format("command line: {}{}{}", option.place, option.flag->takes_value() ? " " : "", text);
    case Source::environment:
      return fmt::format("environment: {}={}", option.place, option.flag->takes_value() ? text : "1");
  }
  return {};
}

Error bad_value(const GivenOption& option, std::string_view expected) {
  return usage_error(fmt::format("{}: got {}, expected {}", option.place, quoted(option.text()), expected));
}

const GivenOption* GivenOptions::find(std::string_view name) const {
  const auto found = options_.find(name);
  return found == options_.end() ? nullptr : &found->second;
}

void GivenOptions::add(GivenOption option) { options_.insert_or_assign(option.flag->name, std::move(option)); }

Result<GivenOptions> given_options(const std::vector<GivenFlag>& head, const Environment& environment) {
  const Result<std::vector<VariableSetting>> settings = settings_from(environment);
  if (!settings) return settings.error();

  const po::options_description description = describe_flags();
  po::parsed_options command_line(&description);
  for (const GivenFlag& given : head)
    command_line.options.push_back(as_option(*given.flag, given.flag->takes_value() ? Values{given.value} : Values{}));
  po::parsed_options variables(&description);
  for (const VariableSetting& setting : settings.value())
    variables.options.push_back(as_option(*setting.flag, setting.values));
  po::variables_map merged;
  po::store(command_line, merged);
  po::store(variables, merged);

  GivenOptions options;
  const auto add = [&](const Flag& flag, Source source, std::string place) {
    if (!options.has(flag.name))
      options.add({&flag, source, std::move(place), merged[std::string(flag.name)].as<Values>()});
  };
  for (const GivenFlag& given : head) add(*given.flag, Source::command_line, fmt::format("--{}", given.flag->name));
  for (const VariableSetting& setting : settings.value()) add(*setting.flag, Source::environment, setting.variable);
  return options;
}

}  // namespace forklift
