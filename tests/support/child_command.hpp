// The command line of the child program (child_program.cpp), for tests that start it.
#pragma once

#include <iterator>
#include <string>
#include <vector>

namespace forklift::support {

/// {child_program, verb, arguments…}
inline std::vector<std::string> child(const std::string& verb, std::vector<std::string> arguments = {}) {
  std::vector<std::string> words{FORKLIFT_CHILD_PROGRAM, verb};
  words.insert(words.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  return words;
}

}  // namespace forklift::support
