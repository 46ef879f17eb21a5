// Whether this process has a device runtime at work that does not survive a fork.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace forklift {

/// What was looked at; data, so that the rule can be tested without a device.
struct ProcessPhotograph {
  std::vector<std::string> open_files;        ///< What descriptors point to: "/dev/nvidia0".
  std::vector<std::string> mapped_libraries;  ///< Paths, each once.
  std::vector<std::string> threads;           ///< Names of the other threads.
};

ProcessPhotograph photograph_of_self();

/// One sentence that names the runtime and how it was recognised; empty if nothing forbids a fork.
std::optional<std::string> runtime_that_forbids_fork(const ProcessPhotograph& photograph);

}  // namespace forklift
