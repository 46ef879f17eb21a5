// torchrun's command line up to the program, for the comparisons with it.
#pragma once

#include <string>
#include <vector>

#include "bench/support/options.hpp"

namespace forklift::bench {

/// `options.torchrun` must be given. Standard output is redirected to files because Debian 12's torchrun (1.13 under
/// Python 3.11) fails without a redirection; beside its own start-up the files cost nothing.
inline std::vector<std::string> torchrun_words(const Options& options, int replicas) {
  return {*options.torchrun, "--nproc_per_node", std::to_string(replicas), "--redirects", "1", "--no_python"};
}

}  // namespace forklift::bench
