// The verbs of the command line, one file each. A verb gets the words after its name and returns the exit status.
#pragma once

#include <string>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/result.hpp"
#include "launcher/supervise/clock.hpp"

namespace forklift::command {

struct Call {
  std::vector<std::string> words;  ///< After the verb.
  std::vector<std::string> whole;  ///< The whole command line, for the report.
  Environment environment;
  RunClock clock;
};

int launch(const Call& call);
int report(const Call& call);
int env(const Call& call);
int estimate(const Call& call);
int version(const Call& call);
/// Not for people: what a host program executes beside itself (launcher/host).
int hosted_guard(const Call& call);
int hosted_supervisor(const Call& call);

/// "forklift: SENTENCE" on stderr, and the exit status of the error.
int fail(const Error& error);

}  // namespace forklift::command
