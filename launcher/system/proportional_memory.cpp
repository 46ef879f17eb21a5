#include "launcher/system/proportional_memory.hpp"

#include <string>

#include "worker/kernel_file.hpp"

namespace forklift {

std::optional<std::uint64_t> proportional_bytes(int pid) {
  const auto text = read_kernel_file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  const auto kib = text ? number_of_key(*text, "Pss") : std::nullopt;
  return kib && *kib > 0 ? std::optional(*kib * 1024U) : std::nullopt;
}

}  // namespace forklift
