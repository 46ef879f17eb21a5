// SIGBUS, in the replica or in its data loading worker: shared memory that is full, or a mapped file that shrank.
#include <fmt/format.h>

#include <csignal>

#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

constexpr std::uint64_t almost_nothing = std::uint64_t{1} << 20;  // 1 MiB
constexpr std::uint64_t one_in_fifty = 50;                        // 2 %

bool is_full(const SharedMemoryFacts& memory) {
  if (memory.total_bytes == 0) return false;
  return memory.free_bytes < almost_nothing || memory.free_bytes < memory.total_bytes / one_in_fifty;
}

enum class HitBy { nothing, replica, loading_worker };

HitBy hit_by_bus_error(const FailureCase& the_case) {
  if (signal_of(the_case.ending.outcome) == SIGBUS) return HitBy::replica;
  const std::string words = own_words(the_case);
  const bool worker = contains(words, "DataLoader worker") && contains(words, "killed by signal: Bus error");
  return worker ? HitBy::loading_worker : HitBy::nothing;
}

void add_shared_memory_evidence(const FailureCase& the_case, Diagnosis& diagnosis) {
  if (const auto& memory = the_case.evidence.shared_memory) {
    diagnosis.evidence.push_back(
        fmt::format("/dev/shm: {} free of {}", format_bytes(memory->free_bytes), format_bytes(memory->total_bytes)));
  }
}

void add_size_advice(Diagnosis& diagnosis) {
  diagnosis.advice.emplace_back(
      "Make /dev/shm larger: `docker run --shm-size=8g` (or --ipc=host); in Kubernetes mount an emptyDir with medium: "
      "Memory at /dev/shm.");
  diagnosis.advice.emplace_back(
      "Use fewer data loading workers (num_workers), or "
      "torch.multiprocessing.set_sharing_strategy('file_system').");
}

}  // namespace

std::optional<Diagnosis> explain_bus_error(const FailureCase& the_case) {
  const HitBy hit = hit_by_bus_error(the_case);
  if (hit == HitBy::nothing) return std::nullopt;
  const std::string_view subject = hit == HitBy::replica ? "was killed by SIGBUS (bus error)"
                                                         : "failed because its data loading worker got a bus error";
  const auto& memory = the_case.evidence.shared_memory;
  const bool full = memory && is_full(*memory);
  if (full || hit == HitBy::loading_worker) {
    const std::string size = memory ? fmt::format(" (it holds {})", format_bytes(memory->total_bytes)) : std::string{};
    const std::string_view why =
        full ? "because shared memory, /dev/shm, is full" : "which happens when shared memory, /dev/shm, is too small";
    Diagnosis diagnosis = diagnosis_of(the_case, Category::bus_error_shared_memory, Confidence::likely,
                                       fmt::format("{} {}{}", subject, why, size));
    add_shared_memory_evidence(the_case, diagnosis);
    add_size_advice(diagnosis);
    return diagnosis;
  }
  Diagnosis diagnosis = diagnosis_of(
      the_case, Category::bus_error_shared_memory, Confidence::possible,
      fmt::format("{}: it touched memory that could not be provided, of a mapped file that became shorter, of a disk "
                  "that failed, or of shared memory that was full",
                  subject));
  add_shared_memory_evidence(the_case, diagnosis);
  diagnosis.advice.emplace_back(
      "See that nothing rewrites or truncates the data and checkpoint files while the job maps them; replace files by "
      "renaming a finished one over them.");
  diagnosis.advice.emplace_back("See the kernel's log for disk or memory errors: dmesg | tail");
  add_size_advice(diagnosis);
  return diagnosis;
}

}  // namespace forklift
