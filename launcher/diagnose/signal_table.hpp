// The signals of Linux: name, and what their arrival usually means. One table, walked by a test.
#pragma once

#include <array>
#include <csignal>
#include <string_view>

namespace forklift {

struct SignalEntry {
  int number = 0;
  std::string_view name;     ///< With the SIG prefix.
  std::string_view meaning;  ///< A noun phrase: "invalid memory access".
};

/// Every signal with a fixed number, by number. Real-time signals are named by their distance from SIGRTMIN.
inline constexpr std::array<SignalEntry, 31> signal_table{{
    {SIGHUP, "SIGHUP", "the terminal or session was closed"},
    {SIGINT, "SIGINT", "interrupt from the keyboard"},
    {SIGQUIT, "SIGQUIT", "quit from the keyboard"},
    {SIGILL, "SIGILL", "an instruction that this CPU does not have"},
    {SIGTRAP, "SIGTRAP", "a breakpoint, or a failed check in compiled code"},
    {SIGABRT, "SIGABRT", "the program gave up by itself (a failed check in compiled code)"},
    {SIGBUS, "SIGBUS", "memory that cannot be provided (shared memory is full, or a mapped file shrank)"},
    {SIGFPE, "SIGFPE", "an integer division by zero or overflow"},
    {SIGKILL, "SIGKILL", "killed without a chance to react"},
    {SIGUSR1, "SIGUSR1", "a user-defined request that the program does not handle"},
    {SIGSEGV, "SIGSEGV", "invalid memory access"},
    {SIGUSR2, "SIGUSR2", "a user-defined request that the program does not handle"},
    {SIGPIPE, "SIGPIPE", "a write to a pipe or socket whose reader is gone"},
    {SIGALRM, "SIGALRM", "a timer set by the program ran out"},
    {SIGTERM, "SIGTERM", "a request to end"},
    {SIGSTKFLT, "SIGSTKFLT", "a fault of the floating point stack"},
    {SIGCHLD, "SIGCHLD", "a child ended"},
    {SIGCONT, "SIGCONT", "continue after a stop"},
    {SIGSTOP, "SIGSTOP", "stopped without a chance to react"},
    {SIGTSTP, "SIGTSTP", "stop from the keyboard"},
    {SIGTTIN, "SIGTTIN", "a read from the terminal in the background"},
    {SIGTTOU, "SIGTTOU", "a write to the terminal in the background"},
    {SIGURG, "SIGURG", "urgent data on a socket"},
    {SIGXCPU, "SIGXCPU", "the limit of CPU time (RLIMIT_CPU) was reached"},
    {SIGXFSZ, "SIGXFSZ", "the limit of file size (RLIMIT_FSIZE) was reached"},
    {SIGVTALRM, "SIGVTALRM", "a timer of CPU time set by the program ran out"},
    {SIGPROF, "SIGPROF", "a profiling timer ran out"},
    {SIGWINCH, "SIGWINCH", "the terminal's size changed"},
    {SIGIO, "SIGIO", "input or output is possible"},
    {SIGPWR, "SIGPWR", "a power failure was announced"},
    {SIGSYS, "SIGSYS", "a system call that is not allowed (seccomp)"},
}};

/// Real-time signals as seen by programs: the C library keeps 32 and 33 for itself.
inline constexpr int first_real_time_signal = 34;
inline constexpr int last_real_time_signal = 64;

}  // namespace forklift
