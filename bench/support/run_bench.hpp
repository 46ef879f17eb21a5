// The main() of every bench: a sentence and status 1 where it could not measure.
#pragma once

#include <exception>
#include <iostream>

namespace forklift::bench {

/// A bar that was missed is a result, not an error: status 0.
template <class Body>
int run_bench(Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

}  // namespace forklift::bench
