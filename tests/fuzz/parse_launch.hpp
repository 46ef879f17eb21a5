// For any words and variables: a request that can be planned, or one sentence about the command line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/environment.hpp"
#include "launcher/request/parse_launch.hpp"
#include "tests/fuzz/promise.hpp"

namespace forklift::fuzz {

/// One word a line; a line `$NAME=VALUE` is a variable of the environment.
inline void check_parse_launch(std::string_view bytes) {
  std::vector<std::string> words;
  Environment environment;
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    const std::size_t equals = line.find('=');
    if (line.starts_with('$') && equals != std::string_view::npos)
      environment[std::string(line.substr(1, equals - 1))] = line.substr(equals + 1);
    else
      words.emplace_back(line);
  }

  const Result<LaunchRequest> request = parse_launch(words, environment);
  if (request) {
    promise(!request.value().program.empty(), "a request has a program");
    promise(request.value().num_machines >= 1, "a request has a machine");
    return;
  }
  const Error& error = request.error();
  promise(error.kind == ErrorKind::usage, "a wrong command line is a usage error");
  promise(!error.message.empty() && error.message.find('\n') == std::string::npos, "an error is one line");
}

}  // namespace forklift::fuzz
