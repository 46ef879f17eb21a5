#include "launcher/request/given_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>
#include <optional>
#include <set>

#include "launcher/request/option_text.hpp"

namespace forklift {
namespace {

namespace po = boost::program_options;
using Values = std::vector<std::string>;

/// One flag given once, in one source.
struct Setting {
  const Flag* flag = nullptr;
  std::string place;
  Values values;
};
using Settings = std::vector<Setting>;

// Only the flags in use are described: describing the whole table would take longer than the rest of parsing.
po::options_description describe_flags(const Settings& command_line, const Settings& variables) {
  std::set<std::string> names;
  for (const Settings* source : {&command_line, &variables})
    for (const Setting& setting : *source) names.emplace(setting.flag->name);
  po::options_description description;
  for (const std::string& name : names) description.add_options()(name.c_str(), po::value<Values>(), "");
  return description;
}

po::parsed_options as_parsed(const Settings& settings, const po::options_description& description) {
  po::parsed_options parsed(&description);
  for (const Setting& setting : settings)
    parsed.options.push_back(po::option{std::string(setting.flag->name), setting.values});
  return parsed;
}

// Program_options keeps the values and the precedence between sources (what is stored first wins). The values stay text
// here: a rule about them belongs to the file of its option, where it gets a sentence of its own.
po::variables_map merge(const Settings& command_line, const Settings& variables) {
  const po::options_description description = describe_flags(command_line, variables);
  po::variables_map merged;
  po::store(as_parsed(command_line, description), merged);
  po::store(as_parsed(variables, description), merged);
  return merged;
}

Settings settings_of(const std::vector<GivenFlag>& head) {
  Settings settings;
  for (const GivenFlag& given : head)
    settings.push_back({given.flag, fmt::format("--{}", given.flag->name),
                        given.flag->takes_value() ? Values{given.value} : Values{}});
  return settings;
}

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
Result<std::optional<Setting>> setting_from(const Environment& environment, const Flag& flag) {
  for (std::string& variable : variables_of(flag)) {
    const auto found = environment.find(variable);
    if (found == environment.end() || found->second.empty()) continue;
    if (flag.takes_value()) return std::optional(Setting{&flag, std::move(variable), {found->second}});
    switch (switch_setting(found->second)) {
      case SwitchSetting::on:
        return std::optional(Setting{&flag, std::move(variable), {}});
      case SwitchSetting::off:
        return std::optional<Setting>();
      case SwitchSetting::neither:
        return usage_error(fmt::format("{}: got {}, expected 0 or 1", variable, quoted(found->second)));
    }
  }
  return std::optional<Setting>();
}

Result<Settings> settings_of(const Environment& environment) {
  Settings settings;
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
  const Settings command_line = settings_of(head);
  const Result<Settings> variables = settings_of(environment);
  if (!variables) return variables.error();
  const po::variables_map merged = merge(command_line, variables.value());

  GivenOptions options;
  const auto add = [&](const Settings& settings, Source source) {
    for (const auto& [flag, place, values] : settings)
      if (!options.has(flag->name)) options.add({flag, source, place, merged[std::string(flag->name)].as<Values>()});
  };
  add(command_line, Source::command_line);
  add(variables.value(), Source::environment);
  return options;
}

}  // namespace forklift
