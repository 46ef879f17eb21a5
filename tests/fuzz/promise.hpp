// What a fuzz check uses in the place of an assertion of the test framework.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace forklift::fuzz {

/// Ends the process, as a fuzzer expects it, if a promise does not hold.
inline void promise(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace forklift::fuzz
