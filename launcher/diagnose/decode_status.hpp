// The only place that turns what the kernel says into an Outcome, and an Outcome into words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "forklift/diagnosis.hpp"
#include "forklift/outcome.hpp"

namespace forklift {

/// From a siginfo of waitid(2): `code` is si_code (CLD_EXITED, CLD_KILLED, CLD_DUMPED), `status` is si_status.
Outcome outcome_of_siginfo(int code, int status);

/// From a native wait status (waitpid, PIDFD_GET_INFO).
Outcome outcome_of_wait_status(int status);

/// "SIGSEGV"; "SIGRTMIN+3"; "signal 77" for a number without a name.
std::string signal_name(int signal);

/// Number of "SIGTERM", "TERM", "term" or "15"; 0 if there is no such signal.
int signal_number(std::string_view name);

/// What the signal usually means, e.g. "invalid memory access"; empty if nothing is known.
std::string_view signal_meaning(int signal);

/// "exited with code 3", "was killed by SIGSEGV (core dumped)", "could not be started: execve /x: Permission denied".
std::string describe(const Outcome& outcome);

/// "execve", "chdir", …: the word used in messages for a step.
std::string_view step_name(StartStep step);

/// "segmentation_fault" and so on: the words of report.json and of --restart-on.
/// Lost::why of a replica that was spared: its group was stopped before its turn to start.
inline constexpr std::string_view spared_at_start = "its start was cancelled before its turn";

std::string_view category_name(Category category);
std::string_view confidence_name(Confidence confidence);

/// The other way round; empty if no such word exists.
std::optional<Category> category_of_name(std::string_view name);
std::optional<Confidence> confidence_of_name(std::string_view name);
std::optional<StartStep> step_of_name(std::string_view name);

}  // namespace forklift
