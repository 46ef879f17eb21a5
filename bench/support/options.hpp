// The command line of a bench: what all of them take, and what one adds.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <filesystem>
#include <optional>

namespace forklift::bench {

struct Options {
  std::filesystem::path forklift;  ///< The binary that is measured: --forklift, else FORKLIFT_BINARY, else
                                   ///< the one of the build tree that this bench stands in.
  std::optional<std::filesystem::path> torchrun;  ///< Compared with only if it is given.
  std::optional<std::filesystem::path> json;      ///< Where the results go beside the table.
  int rounds = 0;  ///< How often each side of a comparison runs at most; long ones run less (rounds_for).
};

/// `own` are the options of this bench beside the common ones; their values are stored where it says. Prints the help
/// and exits for --help. Throws std::runtime_error if the command line or a named program cannot be used.
Options parse_options(int argc, char** argv, const boost::program_options::options_description& own = {});

}  // namespace forklift::bench
