#include "tests/policy/policy_text.hpp"

#include <csignal>
#include <map>

namespace forklift::policy {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::string sweep_word(SweepHow how) {
  switch (how) {
    case SweepHow::look:
      return "look";
    case SweepHow::politely:
      return "politely";
    case SweepHow::kill:
      return "kill";
  }
  return "?";
}

std::string result_word(RunResult result) {
  switch (result) {
    case RunResult::succeeded:
      return "succeeded";
    case RunResult::failed:
      return "failed";
    case RunResult::interrupted:
      return "interrupted";
    case RunResult::running:
      return "running";
  }
  return "?";
}

std::string outcome_words(const Outcome& outcome) {
  return std::visit(Overloaded{
                        [](const Exited& exited) { return "exit " + std::to_string(exited.code); },
                        [](const Signalled& signalled) { return "by " + signal_word(signalled.signal); },
                        [](const FailedToStart&) { return std::string("not started"); },
                        [](const Lost&) { return std::string("lost"); },
                    },
                    outcome);
}

}  // namespace

std::string signal_word(int signal) {
  static const std::map<int, std::string> words{
      {0, "0"},          {SIGINT, "INT"},     {SIGTERM, "TERM"}, {SIGHUP, "HUP"},
      {SIGQUIT, "QUIT"}, {SIGUSR1, "USR1"},   {SIGUSR2, "USR2"}, {SIGCONT, "CONT"},
      {SIGTSTP, "TSTP"}, {SIGWINCH, "WINCH"}, {SIGSEGV, "SEGV"}, {SIGKILL, "KILL"}};
  const auto found = words.find(signal);
  return found == words.end() ? std::to_string(signal) : found->second;
}

std::string to_text(Phase phase) {
  switch (phase) {
    case Phase::idle:
      return "idle";
    case Phase::reserving:
      return "reserving";
    case Phase::starting:
      return "starting";
    case Phase::running:
      return "running";
    case Phase::judging:
      return "judging";
    case Phase::stopping:
      return "stopping";
    case Phase::sweeping:
      return "sweeping";
    case Phase::diagnosing:
      return "diagnosing";
    case Phase::finished:
      return "finished";
  }
  return "?";
}

std::string to_text(const Action& action) {
  return std::visit(
      Overloaded{
          [](const ReservePorts& reserve) { return "ReservePorts " + std::to_string(reserve.attempt.value); },
          [](const StartGroup& start) { return "StartGroup " + std::to_string(start.attempt.value); },
          [](const CancelStart&) { return std::string("CancelStart"); },
          [](const StopReplicas& stop) { return "StopReplicas " + signal_word(stop.signal); },
          [](const KillReplicas&) { return std::string("KillReplicas"); },
          [](const PassSignal& pass) { return "PassSignal " + signal_word(pass.signal); },
          [](const AbandonReplicas&) { return std::string("AbandonReplicas"); },
          [](const SweepDescendants& sweep) { return "Sweep " + sweep_word(sweep.how); },
          [](const NameLeftovers&) { return std::string("NameLeftovers"); },
          [](const DiagnoseAttempt& diagnose) { return "Diagnose " + std::to_string(diagnose.attempt.value); },
          [](const Finish& finish) {
            return "Finish " + result_word(finish.result) + " " + signal_word(finish.stop_signal);
          },
      },
      action);
}

std::string to_text(const Actions& actions) {
  if (actions.empty()) return "-";
  std::string text;
  for (const Action& action : actions) text += (text.empty() ? "" : ", ") + to_text(action);
  return text;
}

std::string to_text(const Event& event) {
  return std::visit(
      Overloaded{
          [](const Begin&) { return std::string("Begin"); },
          [](const PortsReserved& reserved) { return "PortsReserved " + std::to_string(reserved.attempt.value); },
          [](const GroupStarted& started) {
            return "GroupStarted " + std::to_string(started.attempt.value) + " without " +
                   std::to_string(started.never_started);
          },
          [](const ReplicaEnded& ended) {
            return "ReplicaEnded " + std::to_string(ended.rank.value) + " " + outcome_words(ended.outcome);
          },
          [](const TemplateEnded& ended) { return "TemplateEnded " + outcome_words(ended.outcome); },
          [](const StopRequested& request) { return "StopRequested " + signal_word(request.signal); },
          [](const SignalReceived& received) { return "SignalReceived " + signal_word(received.signal); },
          [](const GuardLost&) { return std::string("GuardLost"); },
          [](const LauncherFailed&) { return std::string("LauncherFailed"); },
          [](const DescendantsLeft& left) { return "DescendantsLeft " + std::to_string(left.count); },
          [](const AttemptDiagnosed& diagnosed) {
            return std::string("AttemptDiagnosed ") +
                   (diagnosed.category ? std::to_string(static_cast<int>(*diagnosed.category)) : "success");
          },
          [](const Tick&) { return std::string("Tick"); },
      },
      event);
}

}  // namespace forklift::policy
