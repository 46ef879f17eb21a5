#include "launcher/report/replica_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <utility>

#include "launcher/diagnose/decode_status.hpp"

namespace forklift {
namespace {

constexpr std::size_t most_ranges = 16;

bool is_polite(int signal) { return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT; }

/// How it ended, without a verb: the line may be about one replica or about many.
std::string end_of(const ReplicaReport& replica) {
  constexpr std::string_view verb = "was ";
  std::string words = describe(replica.outcome);
  if (words.starts_with(verb)) words.erase(0, verb.size());
  return words;
}

/// How a replica ended that forklift had asked to.
std::string words_when_asked(const ReplicaReport& replica) {
  if (const auto* signalled = std::get_if<Signalled>(&replica.outcome)) {
    if (is_polite(signalled->signal)) return fmt::format("stopped by forklift ({})", signal_name(signalled->signal));
    if (signalled->signal == SIGKILL && replica.asked == AskedToStop::killed) {
      return "killed by forklift (SIGKILL)";
    }
  }
  if (std::holds_alternative<Lost>(replica.outcome)) {
    return replica.pid == 0 ? "never started" : end_of(replica);
  }
  return fmt::format("stopped by forklift, {}", end_of(replica));
}

/// How a replica ended that failed as the root cause did.
std::string words_when_alike(const ReplicaReport& replica, const RunReport& report) {
  const bool raised = report.root_cause && !report.root_cause->diagnosis.traceback.empty();
  return raised ? "raised the same error" : fmt::format("failed the same way: {}", end_of(replica));
}

std::string words_for(const ReplicaReport& replica, const RunReport& report) {
  if (replica.role == ReplicaRole::failed_alike) return words_when_alike(replica, report);
  if (replica.role == ReplicaRole::running) return "running";
  if (succeeded(replica.outcome)) return "succeeded";
  return replica.asked == AskedToStop::no ? end_of(replica) : words_when_asked(replica);
}

}  // namespace

std::string rank_ranges(const std::vector<int>& ranks) {
  std::vector<std::pair<int, int>> ranges;
  for (const int rank : ranks) {
    if (!ranges.empty() && ranges.back().second + 1 == rank) {
      ranges.back().second = rank;
    } else {
      ranges.emplace_back(rank, rank);
    }
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t at = 0; at < std::min(ranges.size(), most_ranges); ++at) {
    const auto [first, last] = ranges[at];
    text += fmt::format("{}{}", at == 0 ? "" : ", ", first);
    if (last != first) text += fmt::format("-{}", last);
  }
  if (ranges.size() > most_ranges) text += fmt::format(", … ({} in all)", ranks.size());
  return text;
}

std::vector<std::string> other_replicas(const RunReport& report) {
  std::vector<std::string> kinds;  // in order of their first rank
  std::map<std::string, std::vector<int>> ranks_of;
  for (const ReplicaReport& replica : report.replicas) {
    if (replica.role == ReplicaRole::root_cause) continue;
    const std::string kind = words_for(replica, report);
    std::vector<int>& ranks = ranks_of[kind];
    if (ranks.empty()) kinds.push_back(kind);
    ranks.push_back(replica.rank.value);
  }
  std::vector<std::string> lines;
  for (const std::string& kind : kinds) lines.push_back(fmt::format("{}: {}", rank_ranges(ranks_of[kind]), kind));
  return lines;
}

}  // namespace forklift
