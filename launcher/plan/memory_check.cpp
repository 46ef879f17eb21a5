#include "launcher/plan/memory_check.hpp"

#include <fmt/format.h>

#include <limits>

#include "launcher/diagnose/memory_words.hpp"
#include "launcher/estimate/memory_room.hpp"
#include "launcher/estimate/model_size.hpp"
#include "launcher/plan/wording.hpp"
#include "worker/format/byte_text.hpp"

namespace forklift {
namespace {

/// How many replicas there is room for beside what they share.
std::uint64_t most_replicas(const ExpectedMemory& expected, std::uint64_t room) {
  return expected.private_bytes == 0 || expected.shared_bytes > room
             ? 0
             : (room - expected.shared_bytes) / expected.private_bytes;
}

std::string need_of(const ExpectedMemory& expected, int replicas, std::uint64_t need) {
  const std::string each = format_bytes(expected.private_bytes);
  const std::string count = counted(replicas, "replica");
  const std::string own =
      replicas == 1 ? fmt::format("{} with {}", count, each) : fmt::format("{} with {} each", count, each);
  if (expected.private_bytes == 0) return fmt::format("the shared model needs {}", format_bytes(need));
  if (expected.shared_bytes == 0) return fmt::format("{} need{} {}", own, replicas == 1 ? "s" : "", format_bytes(need));
  return fmt::format("the shared model ({}) and {} need {}", format_bytes(expected.shared_bytes), own,
                     format_bytes(need));
}

std::string remedy_for(const ExpectedMemory& expected, int replicas, std::uint64_t room) {
  const std::uint64_t most = most_replicas(expected, room);
  if (most == 0) return "not even one replica has room: use a machine with more memory, or a smaller type";
  const std::string fewer = fmt::format("there is room for {}", counted(static_cast<long long>(most), "replica"));
  if (expected.shared_bytes != 0) return fewer;
  return fmt::format("{}; {}", fewer, copies_remedy(replicas));
}

}  // namespace

Result<std::optional<std::string>> check_memory(const MemoryRules& rules, const HostFacts& host, int replicas) {
  const std::optional<std::string> nothing;
  const auto room = memory_room(host);
  if (rules.check == MemoryCheck::off || !rules.expected || !room) return nothing;
  const ExpectedMemory& expected = *rules.expected;
  const std::uint64_t own = times(expected.private_bytes, static_cast<std::uint64_t>(replicas));
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t need = own > most - expected.shared_bytes ? most : own + expected.shared_bytes;
  if (need <= room->bytes) return nothing;

  const std::string sentence =
      fmt::format("{}, and {} can be used on this machine: {}", need_of(expected, replicas, need),
                  format_bytes(room->bytes), remedy_for(expected, replicas, room->bytes));
  if (rules.check == MemoryCheck::refuse) return Error{ErrorKind::usage, "--memory-check refuse: " + sentence};
  return std::optional<std::string>(sentence);
}

}  // namespace forklift
