// Accelerators of this machine, without opening one: an opened device cannot be used after a fork.
#pragma once

#include <string>
#include <vector>

#include "forklift/host_facts.hpp"

namespace forklift {

/// Those that a program started from here could open, by kind and then by number. A container often sees the PCI
/// devices of the whole machine but only some of their device nodes; the nodes decide. `root` is put before /sys, /dev
/// and /proc.
std::vector<Accelerator> read_accelerators(const std::string& root = "");

}  // namespace forklift
