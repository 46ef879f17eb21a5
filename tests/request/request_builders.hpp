// Short ways to parse a command line in a test.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "forklift/request.hpp"
#include "forklift/result.hpp"
#include "launcher/request/parse_launch.hpp"

namespace forklift {

/// The words between blanks. `""` stands for an empty word.
inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word == "\"\"" ? "" : word);
  return words;
}

/// The request for `forklift launch LINE`; a test failure with the message if there is none.
inline LaunchRequest parsed(const std::string& line, const Environment& environment = {}) {
  const Result<LaunchRequest> request = parse_launch(words_of(line), environment);
  if (request) return request.value();
  ADD_FAILURE() << line << "\n  " << request.error().message;
  return {};
}

/// The message for `forklift launch LINE`; a test failure if there is none, or if it is not a usage error.
inline std::string refused(const std::string& line, const Environment& environment = {}) {
  const Result<LaunchRequest> request = parse_launch(words_of(line), environment);
  if (request) {
    ADD_FAILURE() << line << " was accepted";
    return {};
  }
  EXPECT_EQ(request.error().kind, ErrorKind::usage);
  return request.error().message;
}

inline std::string joined_warnings(const LaunchRequest& request) {
  std::string all;
  for (const std::string& warning : request.warnings) all += warning + "\n";
  return all;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace forklift
