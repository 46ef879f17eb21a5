// The command line: takes its photographs (clock, words, environment) and calls a verb.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "launcher/command/verbs.hpp"
#include "launcher/request/help.hpp"
#include "launcher/system/limits.hpp"
#include "launcher/system/process_title.hpp"

namespace {

using forklift::command::Call;

struct Verb {
  std::string_view name;
  int (*run)(const Call&);
};

// One row per line reads as the table it is.
// clang-format off
constexpr Verb verbs[] = {
    {"launch", forklift::command::launch},
    {"report", forklift::command::report},
    {"estimate", forklift::command::estimate},
    {"env", forklift::command::env},
    {"version", forklift::command::version},
    {"hosted-guard", forklift::command::hosted_guard},
    {"hosted-supervisor", forklift::command::hosted_supervisor},
};
// clang-format on

forklift::Environment photograph_environment() {
  forklift::Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view assignment(*entry);
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(assignment.substr(0, equals),
                        assignment.substr(equals + 1));  // The first of two wins, as for getenv.
  }
  return environment;
}

}  // namespace

int main(int argc, char** argv) {
  Call call;
  forklift::fill_standard_streams();
  call.whole.assign(argv, argv + argc);
  call.environment = photograph_environment();
  forklift::remember_command_line(argc, argv);
  const bool help_of_verb = argc > 2 && call.whole[1] == "help";
  if (argc < 2 || call.whole[1] == "--help" || call.whole[1] == "-h" || (call.whole[1] == "help" && !help_of_verb)) {
    std::fputs(forklift::forklift_help().c_str(), argc < 2 ? stderr : stdout);
    return argc < 2 ? 2 : 0;
  }
  if (call.whole[1] == "--version") return forklift::command::version(call);
  call.words.assign(call.whole.begin() + 2, call.whole.end());
  if (help_of_verb) call.words = {"--help"};  // `forklift help launch` is `forklift launch --help`.
  const std::string& wanted = call.whole[help_of_verb ? 2 : 1];
  for (const Verb& verb : verbs) {
    if (verb.name == wanted) return verb.run(call);
  }
  return forklift::command::fail({forklift::ErrorKind::usage, "unknown verb '" + wanted + "'; see forklift --help"});
}
