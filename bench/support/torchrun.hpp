// torchrun's command line up to the program, for the comparisons with it.
#pragma once

#include <string>
#include <vector>

#include "bench/support/options.hpp"

namespace forklift::bench {

/// `options.torchrun` must be given. Debian 12's torchrun (1.13 under Python 3.11) fails unless both --redirects and
/// --tee are given; here they ask for as little as they can, a file for each stream of the first replica.
inline std::vector<std::string> torchrun_words(const Options& options, int replicas) {
  return {*options.torchrun, "--nproc_per_node", std::to_string(replicas), "--redirects", "0:1", "--tee", "0:2",
          "--no_python"};
}

}  // namespace forklift::bench
