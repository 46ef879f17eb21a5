// Every state × every step, and what comes of it: the whole machine on two screens.
//
//   [state] phase
//     step | step -> phase: actions
//
// A step that a state does not list leaves it in its phase and asks for nothing; that is checked as well.
#pragma once

namespace forklift::policy {

inline constexpr const char* transition_table = R"(
[idle] idle
  Begin -> reserving: ReservePorts 0
  StopRequested TERM | StopRequested by time limit -> finished: Finish interrupted TERM
  StopRequested INT -> finished: Finish interrupted INT
  GuardLost | LauncherFailed -> finished: Finish failed 0
[reserving] reserving
  PortsReserved -> starting: StartGroup 0
  StopRequested TERM | StopRequested by time limit -> finished: Finish interrupted TERM
  StopRequested INT -> finished: Finish interrupted INT
  GuardLost | LauncherFailed -> finished: Finish failed 0
[starting] starting
  GroupStarted -> running: -
  GroupStarted without one -> stopping: KillReplicas, Sweep kill
  ReplicaEnded by exit 1 | ReplicaEnded by SIGKILL | ReplicaEnded before it started | ReplicaEnded unseen |
    TemplateEnded by exit 0 | TemplateEnded by exit 1 | StopRequested TERM | StopRequested by time limit
    -> stopping: CancelStart, StopReplicas TERM
  ReplicaEnded by SIGTERM | TemplateEnded by SIGTERM -> judging: CancelStart
  StopRequested INT -> stopping: CancelStart, StopReplicas INT
  SignalReceived -> starting: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: CancelStart, KillReplicas, Sweep kill
[starting, all but one ended] starting
  GroupStarted -> running: -
  GroupStarted without one -> sweeping: Sweep kill
  ReplicaEnded by exit 1 | ReplicaEnded by SIGKILL | ReplicaEnded before it started | ReplicaEnded unseen |
    TemplateEnded by exit 0 | TemplateEnded by exit 1 | StopRequested TERM | StopRequested by time limit
    -> stopping: CancelStart, StopReplicas TERM
  ReplicaEnded by SIGTERM | TemplateEnded by SIGTERM -> judging: CancelStart
  StopRequested INT -> stopping: CancelStart, StopReplicas INT
  SignalReceived -> starting: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: CancelStart, KillReplicas, Sweep kill
[running] running
  ReplicaEnded by exit 1 | ReplicaEnded by SIGKILL | ReplicaEnded before it started | ReplicaEnded unseen |
    StopRequested TERM | StopRequested by time limit -> stopping: StopReplicas TERM
  ReplicaEnded by SIGTERM -> judging: -
  StopRequested INT -> stopping: StopReplicas INT
  SignalReceived -> running: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: KillReplicas, Sweep kill
[running, the last one] running
  ReplicaEnded by exit 0 -> sweeping: Sweep look
  ReplicaEnded by exit 1 | ReplicaEnded by SIGKILL | ReplicaEnded before it started | ReplicaEnded unseen
    -> sweeping: Sweep kill
  ReplicaEnded by SIGTERM -> judging: -
  StopRequested TERM | StopRequested by time limit -> stopping: StopReplicas TERM
  StopRequested INT -> stopping: StopReplicas INT
  SignalReceived -> running: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: KillReplicas, Sweep kill
[judging during the start] judging
  ReplicaEnded by exit 1 | ReplicaEnded by SIGKILL | ReplicaEnded before it started | ReplicaEnded unseen |
    StopRequested TERM | StopRequested by time limit | Tick at the deadline -> stopping: StopReplicas TERM
  StopRequested INT -> stopping: StopReplicas INT
  SignalReceived -> judging: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: KillReplicas, Sweep kill
[judging] judging
  ReplicaEnded by exit 1 | ReplicaEnded by SIGKILL | ReplicaEnded before it started | ReplicaEnded unseen
    -> sweeping: Sweep kill
  StopRequested TERM | StopRequested by time limit | Tick at the deadline -> stopping: StopReplicas TERM
  StopRequested INT -> stopping: StopReplicas INT
  SignalReceived -> judging: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: KillReplicas, Sweep kill
[judging, all ended] judging
  StopRequested TERM | StopRequested INT | StopRequested by time limit | GuardLost | LauncherFailed |
    Tick at the deadline -> sweeping: Sweep kill
[stopping a start] stopping
  GroupStarted without one -> sweeping: Sweep kill
  StopRequested INT -> stopping: StopReplicas INT
  SignalReceived -> stopping: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: KillReplicas, Sweep kill
  Tick at the deadline -> stopping: KillReplicas
[stopping after failure] stopping
  ReplicaEnded by exit 0 | ReplicaEnded by exit 1 | ReplicaEnded by SIGTERM | ReplicaEnded by SIGKILL |
    ReplicaEnded before it started | ReplicaEnded unseen -> sweeping: Sweep kill
  StopRequested INT -> stopping: StopReplicas INT
  SignalReceived -> stopping: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: KillReplicas, Sweep kill
  Tick at the deadline -> stopping: KillReplicas
[stopping by request] stopping
  StopRequested INT -> stopping: StopReplicas INT
  SignalReceived -> stopping: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: KillReplicas, Sweep kill
  Tick at the deadline -> stopping: KillReplicas
[killing after failure] stopping
  ReplicaEnded by exit 0 | ReplicaEnded by exit 1 | ReplicaEnded by SIGTERM | ReplicaEnded by SIGKILL |
    ReplicaEnded before it started | ReplicaEnded unseen -> sweeping: Sweep kill
  SignalReceived -> stopping: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: Sweep kill
  Tick at the deadline -> sweeping: AbandonReplicas, Sweep kill
[killing by request] stopping
  SignalReceived -> stopping: PassSignal USR1
  GuardLost | LauncherFailed -> stopping: Sweep kill
  Tick at the deadline -> sweeping: AbandonReplicas, Sweep kill
[killing without guard] stopping
  SignalReceived -> stopping: PassSignal USR1
  Tick at the deadline -> finished: AbandonReplicas, Sweep kill, NameLeftovers, Finish failed 0
[sweeping after success, looking] sweeping
  StopRequested TERM | StopRequested INT | StopRequested by time limit | GuardLost | LauncherFailed
    -> sweeping: Sweep kill
  DescendantsLeft 0 -> diagnosing: Diagnose 0
  DescendantsLeft 2 -> sweeping: NameLeftovers, Sweep politely
[sweeping after success, politely] sweeping
  StopRequested TERM | StopRequested INT | StopRequested by time limit | GuardLost | LauncherFailed |
    Tick at the deadline -> sweeping: Sweep kill
  DescendantsLeft 0 -> diagnosing: Diagnose 0
[sweeping after success, killing] sweeping
  DescendantsLeft 0 | Tick at the deadline -> diagnosing: Diagnose 0
[sweeping after failure] sweeping
  DescendantsLeft 0 -> diagnosing: Diagnose 0
  Tick at the deadline -> diagnosing: NameLeftovers, Diagnose 0
[sweeping after a request] sweeping
  DescendantsLeft 0 -> diagnosing: Diagnose 0
  Tick at the deadline -> diagnosing: NameLeftovers, Diagnose 0
[sweeping without guard] sweeping
  DescendantsLeft 0 -> finished: Finish failed 0
  Tick at the deadline -> finished: NameLeftovers, Finish failed 0
[diagnosing success] diagnosing
  GuardLost | LauncherFailed -> finished: Finish failed 0
  AttemptDiagnosed success | AttemptDiagnosed exit_code | AttemptDiagnosed interrupted -> finished: Finish succeeded 0
[diagnosing failure] diagnosing
  GuardLost | LauncherFailed | AttemptDiagnosed success | AttemptDiagnosed interrupted -> finished: Finish failed 0
  AttemptDiagnosed exit_code -> reserving: ReservePorts 1
[diagnosing failure, stop requested] diagnosing
  GuardLost | LauncherFailed | AttemptDiagnosed success | AttemptDiagnosed interrupted -> finished: Finish failed 0
  AttemptDiagnosed exit_code -> finished: Finish interrupted TERM
[diagnosing failure, stop requested before] diagnosing
  GuardLost | LauncherFailed | AttemptDiagnosed success | AttemptDiagnosed exit_code |
    AttemptDiagnosed interrupted -> finished: Finish failed 0
[diagnosing a request] diagnosing
  GuardLost | LauncherFailed -> finished: Finish failed 0
  AttemptDiagnosed success | AttemptDiagnosed exit_code | AttemptDiagnosed interrupted
    -> finished: Finish interrupted TERM
[finished] finished
)";

}  // namespace forklift::policy
