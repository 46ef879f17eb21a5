// SIGKILL that we did not send: the kernel's out-of-memory killer, or somebody else. The counters decide; a peak alone
// never does (a forked child starts with its parent's peak).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>

#include "launcher/diagnose/memory_evidence.hpp"
#include "launcher/diagnose/memory_words.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

/// The process that got the SIGKILL.
struct Victim {
  enum class Kind {
    replica,         ///< The replica itself.
    child,           ///< A child of it: a shell reported 137.
    loading_worker,  ///< A worker of torch's DataLoader.
  };
  Kind kind = Kind::replica;
  int pid = 0;  ///< Of the loading worker, if it was named.
};

int number_after(std::string_view text, std::string_view mark) {
  const std::size_t found = text.find(mark);
  if (found == std::string_view::npos) return 0;
  const char* begin = text.data() + found + mark.size();
  int number = 0;
  std::from_chars(begin, text.data() + text.size(), number);
  return number;
}

std::optional<Victim> victim_of(const FailureCase& the_case) {
  const Ending& ending = the_case.ending;
  if (ending.asked == AskedToStop::killed) return std::nullopt;
  if (signal_of(ending.outcome) == SIGKILL) {
    const bool itself = std::holds_alternative<Signalled>(ending.outcome);
    return Victim{itself ? Victim::Kind::replica : Victim::Kind::child, 0};
  }
  const std::string words = own_words(the_case);
  if (contains(words, "DataLoader worker") && contains(words, "killed by signal: Killed")) {
    return Victim{Victim::Kind::loading_worker, number_after(words, "DataLoader worker (pid ")};
  }
  return std::nullopt;
}

/// Begins the sentence that says what happened: "was killed", "ended because its child was killed".
std::string was_killed(const Victim& victim) {
  switch (victim.kind) {
    case Victim::Kind::replica:
      return "was killed";
    case Victim::Kind::child:
      return "ended because its child was killed";
    case Victim::Kind::loading_worker:
      if (victim.pid == 0) return "failed because its data loading worker was killed";
      return fmt::format("failed because its data loading worker (pid {}) was killed", victim.pid);
  }
  return "was killed";
}

std::string reason_for(OomKiller killer, const AttemptEvidence& evidence) {
  if (killer == OomKiller::cgroup) {
    if (!evidence.memory_limit_bytes) return "because the memory limit of its group was reached";
    return fmt::format("because the memory limit of {} was reached", format_bytes(*evidence.memory_limit_bytes));
  }
  if (evidence.memory_total_bytes == 0) return "because the machine ran out of memory";
  return fmt::format("because the machine ran out of memory (it has {})", format_bytes(evidence.memory_total_bytes));
}

/// Who had the memory, as far as that is known: all replicas alike, or the victim.
std::string holders_of(const FailureCase& the_case, const std::optional<ManyCopies>& copies) {
  if (copies) {
    return fmt::format("; {} replicas held {} at their peaks, {} together", copies->replicas,
                       each_of(copies->smallest, copies->largest), format_bytes(copies->together));
  }
  const auto& peak = the_case.ending.peak_rss_bytes;
  return peak ? fmt::format("; its peak was {}", format_bytes(*peak)) : std::string{};
}

void add_memory_advice(const FailureCase& the_case, OomKiller killer, const Victim& victim,
                       const std::optional<ManyCopies>& copies, Diagnosis& diagnosis) {
  if (victim.kind == Victim::Kind::loading_worker) {
    diagnosis.advice.emplace_back("Use fewer data loading workers (num_workers) or a smaller prefetch_factor.");
  }
  if (copies) {
    diagnosis.advice.push_back(
        fmt::format("If that is {} copies of one model, {}.", copies->replicas, copies_remedy(copies->replicas)));
  } else if (the_case.plan.replicas.size() > 1 && the_case.ending.rank != template_rank) {
    diagnosis.advice.push_back(fmt::format(
        "Start fewer replicas than {}, or load less in each: every one holds its own copy of what it loads.",
        the_case.plan.replicas.size()));
  } else {
    diagnosis.advice.emplace_back("Load less at once: a smaller batch, data that is streamed or mapped from a file.");
  }
  diagnosis.advice.emplace_back(
      killer == OomKiller::cgroup
          ? "Raise the limit: `docker run --memory`, resources.limits.memory in Kubernetes, `sbatch --mem` in Slurm."
          : "Use a machine with more memory, or end other programs on this one.");
}

}  // namespace

std::optional<Diagnosis> explain_oom_kill(const FailureCase& the_case) {
  const std::optional<Victim> victim = victim_of(the_case);
  const OomKiller killer = oom_killer_of(the_case.evidence);
  const bool out_of_memory = killer == OomKiller::cgroup || killer == OomKiller::machine;
  if (!victim || !out_of_memory) return std::nullopt;

  // The machine's counter also counts the victims of other groups; our own group's counts only its members.
  const std::optional<ManyCopies> copies = copies_that_filled(the_case, killer);
  const Confidence confidence = killer == OomKiller::cgroup ? Confidence::certain : Confidence::likely;
  Diagnosis diagnosis = diagnosis_of(the_case, Category::out_of_memory, confidence,
                                     fmt::format("{} by the kernel {}{}", was_killed(*victim),
                                                 reason_for(killer, the_case.evidence), holders_of(the_case, copies)));
  add_memory_evidence(the_case, diagnosis);
  add_memory_advice(the_case, killer, *victim, copies, diagnosis);
  return diagnosis;
}

std::optional<Diagnosis> explain_kill(const FailureCase& the_case) {
  const std::optional<Victim> victim = victim_of(the_case);
  if (!victim) return std::nullopt;
  const bool counted = oom_killer_of(the_case.evidence) != OomKiller::unknown;
  const std::string_view by_whom =
      counted ? "with SIGKILL from outside: not by forklift, and not by the kernel for lack of memory"
              : "with SIGKILL from outside: not by forklift; whether memory ran out cannot be seen here";
  Diagnosis diagnosis =
      diagnosis_of(the_case, Category::killed_from_outside, counted ? Confidence::likely : Confidence::possible,
                   fmt::format("{} {}", was_killed(*victim), by_whom));
  add_memory_evidence(the_case, diagnosis);
  diagnosis.advice.emplace_back(
      "Ask who sends SIGKILL here: a scheduler at its limit, a container's stop, a person or a script with kill -9.");
  diagnosis.advice.emplace_back(
      counted ? "User-space memory guards (systemd-oomd, earlyoom) kill without the kernel's "
                "counter: see `journalctl -u systemd-oomd` and `journalctl -u earlyoom`."
              : "See the kernel's log for an out-of-memory kill: dmesg | grep -i 'killed process'");
  return diagnosis;
}

}  // namespace forklift
