// Bytes as a command line: one word a line; a line `$NAME=VALUE` is a variable of the environment.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/environment.hpp"
#include "launcher/request/parse_launch.hpp"

namespace forklift {

/// Parses the bytes. Aborts where parse_launch breaks its contract, so that a fuzzer and a test both notice.
inline void feed_parse_launch(std::string_view bytes) {
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
    if (request.value().program.empty() || request.value().num_machines < 1) std::abort();
    return;
  }
  const Error& error = request.error();
  const bool one_line = error.message.find('\n') == std::string::npos;
  if (error.kind != ErrorKind::usage || error.message.empty() || !one_line) std::abort();
}

}  // namespace forklift
