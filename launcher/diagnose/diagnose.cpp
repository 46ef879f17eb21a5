#include "launcher/diagnose/diagnose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "launcher/diagnose/lost_peer.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

/// From what is certain to what is general: the first rule that answers decides.
constexpr std::array<Rule, 11> rules{
    explain_failed_start, explain_lost,         explain_oom_kill,  explain_bus_error,
    explain_port_in_use,  explain_known_text,   explain_kill,      explain_python,
    explain_signal,       explain_shell_signal, explain_exit_code,
};

Diagnosis explain(const FailureCase& the_case) {
  for (const Rule rule : rules) {
    if (std::optional<Diagnosis> diagnosis = rule(the_case)) return *std::move(diagnosis);
  }
  return diagnosis_of(the_case, Category::exit_code, Confidence::possible, "ended for a reason that is not known");
}

}  // namespace

std::optional<RootCause> diagnose(const Plan& plan, const std::vector<Ending>& endings,
                                  const AttemptEvidence& evidence) {
  const Ending* culprit = find_root_cause(endings);
  if (culprit == nullptr) return std::nullopt;
  const FailureCase the_case = make_case(plan, *culprit, endings, evidence);
  Diagnosis diagnosis = explain(the_case);
  name_likely_peer(the_case, diagnosis);
  if (stderr_seen(the_case) == StderrSeen::went_to_terminal && culprit->pid != 0) {
    diagnosis.evidence.emplace_back("its stderr was the terminal and was not kept");
  }
  if (!evidence.capabilities_missing.empty()) {
    diagnosis.evidence.push_back(
        fmt::format("not available on this machine: {}", fmt::join(evidence.capabilities_missing, ", ")));
  }
  return RootCause{culprit->rank, culprit->pid, culprit->outcome, std::move(diagnosis)};
}

}  // namespace forklift
