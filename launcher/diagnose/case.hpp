// FailureCase: the ending to be explained with everything that is known around it, read and cleaned once for all rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/diagnosis.hpp"
#include "forklift/outcome.hpp"
#include "forklift/plan.hpp"
#include "launcher/diagnose/evidence.hpp"
#include "launcher/diagnose/python_traceback.hpp"

namespace forklift {

/// Refers to its parts; they must outlive it.
struct FailureCase {
  const Plan& plan;
  const Ending& ending;                ///< The one to explain.
  const std::vector<Ending>& endings;  ///< All of the attempt.
  const AttemptEvidence& evidence;
  std::string stderr_text;              ///< Plain text of the stderr tail.
  std::optional<PythonFailure> python;  ///< From the error file, else from stderr; empty if Python raised nothing.
};

FailureCase make_case(const Plan& plan, const Ending& ending, const std::vector<Ending>& endings,
                      const AttemptEvidence& evidence);

/// "rank 2", or "the template".
std::string name_of(Rank rank);

/// "Rank 2 (pid 4711)"; without the pid if there never was a process.
std::string who(const FailureCase& the_case);

/// The words in which the replica itself gave its reason: the final exception, else the last lines of stderr.
std::string own_words(const FailureCase& the_case);
std::string own_words(const Ending& ending);

/// What the plan says of the replica; nullptr for the template, and where the plan is not known.
const ReplicaPlan* plan_of(const FailureCase& the_case);

/// Whether forklift has seen what the replica wrote to stderr.
enum class StderrSeen { yes, went_to_terminal };
StderrSeen stderr_seen(const FailureCase& the_case);

/// The command of the replica: argv of the plan; empty if the plan does not have this rank.
std::vector<std::string> argv_of(const FailureCase& the_case);

/// The traceback of the exception, followed by faulthandler's report if there is one.
std::string traceback_of(const FailureCase& the_case);

/// A diagnosis that names the rank, with the outcome as its first evidence and the traceback. `predicate` continues
/// the sentence that begins with the rank: "raised ValueError: bad batch".
Diagnosis diagnosis_of(const FailureCase& the_case, Category category, Confidence confidence,
                       std::string_view predicate);

/// "raised ValueError: bad batch", on one line of bearable length.
std::string raised(const ExceptionLine& exception);

/// The signal that killed the replica, or that a shell reported as 128 + signal for the replica's child; 0 if neither.
int signal_of(const Outcome& outcome);

}  // namespace forklift
