// `forklift version`, and what all verbs share.
#include <cstdio>

#include "forklift/version.hpp"
#include "launcher/command/verbs.hpp"

namespace forklift::command {

int version(const Call&) {
  std::printf("forklift %s\n", forklift::version);
  return 0;
}

int fail(const Error& error) {
  std::fprintf(stderr, "forklift: %s\n", error.message.c_str());
  return exit_status_of(error.kind);
}

}  // namespace forklift::command
