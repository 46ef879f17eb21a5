// Endings + diagnosis → RunReport, and the exit status.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forklift/plan.hpp"
#include "forklift/report.hpp"

namespace forklift {

/// The template as it was when the run was over.
struct TemplateEnding {
  enum class State { alive, ended };
  Ending ending;  ///< Without an outcome while it is alive.
  State state = State::alive;
};

/// The files of one replica's output; empty: there is none.
struct LogFiles {
  std::string standard_output;
  std::string standard_error;
};

/// What the loop has collected when the policy says Finish.
struct RunFacts {
  std::string run_directory;
  std::vector<std::string> command;
  std::string started;  ///< RFC 3339
  std::string ended;
  RunResult result = RunResult::succeeded;
  int stop_signal = 0;
  EndedBy ended_by = EndedBy::nobody;
  std::string launcher_error;
  std::vector<Ending> endings;         ///< Of the last attempt, any order.
  std::map<Rank, LogFiles> log_files;  ///< Of the last attempt.
  std::optional<TemplateEnding> template_ending;
  std::optional<ModelReport> model;
  std::vector<AttemptReport> attempts;  ///< One per attempt, in order; the last one's root cause is the run's.
  std::vector<Leftover> leftovers;
  std::vector<std::string> notes;
};

RunReport summarize(const Plan& plan, RunFacts facts);

/// 0 after success; the root cause's code or 128 + signal; 126/127/125 for FailedToStart; 128 + stop signal.
int exit_status_of(RunResult result, int stop_signal, const std::optional<RootCause>& root_cause);

}  // namespace forklift
