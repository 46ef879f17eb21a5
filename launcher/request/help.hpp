// Help texts: what exists, grouped, within 80 columns. That of `launch` is made from the flag table.
#pragma once

#include <string>
#include <vector>

namespace forklift {

/// Whether `-h` or `--help` stands among forklift's own words: before PROGRAM, and not as the value of another flag.
bool asks_for_help(const std::vector<std::string>& words);

/// `forklift --help`
std::string forklift_help();

/// `forklift launch --help`
std::string launch_help();

/// `forklift report --help`
std::string report_help();

/// `forklift estimate --help`
std::string estimate_help();

/// `forklift env --help`
std::string env_help();

}  // namespace forklift
