#include "launcher/system/guard.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/system/guard_channel.hpp"
#include "launcher/system/isolation.hpp"
#include "launcher/system/limits.hpp"
#include "launcher/system/process_table.hpp"
#include "launcher/system/process_title.hpp"
#include "launcher/system/reap.hpp"

namespace forklift {
namespace {

constexpr int forklift_failed = 125;

/// Signals that are passed to the supervisor. An inherited SIG_IGN is kept, so that nohup works.
constexpr int forwarded_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool is_pending(int signal) {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && ::sigismember(&pending, signal) == 1;
}

int milliseconds_of(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

void say(const std::string& sentence) { std::fprintf(stderr, "forklift: %s\n", sentence.c_str()); }

/// The terminal as it was, put back by the destructor: its settings, and our group in the foreground.
class SavedTerminal {
 public:
  explicit SavedTerminal(Interaction interaction) {
    if (interaction == Interaction::terminal && ::tcgetattr(STDIN_FILENO, &settings_) == 0) group_ = ::getpgrp();
  }
  SavedTerminal(const SavedTerminal&) = delete;
  SavedTerminal& operator=(const SavedTerminal&) = delete;
  ~SavedTerminal() { restore(); }

  [[nodiscard]] bool in_use() const { return group_ != 0; }
  [[nodiscard]] bool in_foreground() const { return in_use() && ::tcgetpgrp(STDIN_FILENO) == group_; }

  void restore() const {
    if (!in_use()) return;
    ::tcsetpgrp(STDIN_FILENO, group_);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &settings_);
  }
  /// Remembers the settings that the replica had made, to give them back when the job goes on.
  void exchange_for_stop() {
    ::tcgetattr(STDIN_FILENO, &replica_settings_);
    restore();
  }
  void give_back_after_stop() const { ::tcsetattr(STDIN_FILENO, TCSADRAIN, &replica_settings_); }

 private:
  pid_t group_ = 0;
  termios settings_{};
  termios replica_settings_{};
};

class Guard {
 public:
  Guard(Duration kill_timeout, Descriptor channel, Descriptor signals, pid_t supervisor,
        std::set<ProcessIdentity> spared, Descriptor host)
      : kill_timeout_(kill_timeout),
        channel_(std::move(channel)),
        signals_(std::move(signals)),
        supervisor_(supervisor),
        spared_(std::move(spared)),
        host_(std::move(host)) {}

  /// Forwards until the supervisor has ended, then ends what it left, and returns the exit status.
  int run(SavedTerminal& terminal) {
    reap();  // One that has ended before our signals were set up sends none any more.
    while (!supervisor_status_) wait_once(terminal);
    read_channel(terminal);  // Its last word may have come together with its end.
    const auto left =
        has_children() ? end_descendants(spared_, milliseconds_of(kill_timeout_)) : std::vector<ProcessEntry>{};
    terminal.restore();
    for (const ProcessEntry& process : left) {
      say("could not end process " + std::to_string(process.pid) + " (" + process.name + ", state " + process.state +
          ")");
    }
    return exit_status();
  }

  /// The signal that the caller should die of, as a shell expects; 0: none.
  [[nodiscard]] int fatal_signal() const { return fatal_signal_; }

 private:
  /// Who wants the job to be stopped: somebody at the keyboard, or whoever can send us signals, SIGCONT included.
  enum class Asker { person, program };

  void wait_once(SavedTerminal& terminal) {
    // poll() passes over descriptors that are -1: a channel that has ended, a host that there never was.
    pollfd watched[] = {{signals_.get(), POLLIN, 0}, {channel_.get(), POLLIN, 0}, {host_.get(), POLLIN, 0}};
    if (::poll(watched, std::size(watched), -1) < 0) return;
    if (watched[1].revents != 0) read_channel(terminal);
    if (watched[0].revents != 0) read_signals(terminal);
    if (watched[2].revents != 0) {
      host_.close();
      channel_.close();  // The supervisor takes it for our end, and ends the job.
    }
  }

  void read_channel(SavedTerminal& terminal) {
    GuardMessage message;
    while (channel_.valid()) {
      switch (receive_message(channel_.get(), message)) {
        case Received::closed:
          channel_.close();  // SIGCHLD follows.
          return;
        case Received::message:
          if (message.kind == GuardMessage::Kind::stop_yourself) stop_with_the_job(terminal, Asker::person);
          if (message.kind == GuardMessage::Kind::die_of_signal) fatal_signal_ = message.number;
          break;
        case Received::nothing:
          return;
      }
    }
  }

  void read_signals(SavedTerminal& terminal) {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) {
        reap();
        continue;
      }
      const bool typed = info.ssi_code == SI_KERNEL;
      forward(signal, typed ? GuardMessage::Kind::terminal_key : GuardMessage::Kind::signal);
      if (signal == SIGTSTP) stop_with_the_job(terminal, typed ? Asker::person : Asker::program);
    }
  }

  void forward(int signal, GuardMessage::Kind kind) {
    if (channel_.valid()) send_message(channel_.get(), {kind, signal});
  }

  // As PID 1 of a container we are also the parent of strangers.
  void reap() {
    int status = 0;
    errno = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == supervisor_) supervisor_status_ = status;
    }
    if (!supervisor_status_ && errno == ECHILD) supervisor_status_ = 0;  // It ended while nobody could be told.
  }

  // What a shell expects of a stopped job: every process of our group stops, and the terminal is as the shell left it.
  void stop_with_the_job(SavedTerminal& terminal, Asker asker) {
    if (terminal.in_use()) terminal.exchange_for_stop();
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    ::kill(0, SIGTSTP);
    ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // Stops here, until SIGCONT.
    ::sigprocmask(SIG_BLOCK, &stop, nullptr);
    if (terminal.in_foreground()) {
      terminal.give_back_after_stop();
      forward(SIGCONT, GuardMessage::Kind::resumed);
    }
    // SIGCONT itself waits in the signal descriptor, and is forwarded from there. If it does not, nothing has stopped
    // us: without a shell above us, as in a container, the kernel ignores the key. Then nobody could continue the job.
    if (asker == Asker::person && !is_pending(SIGCONT)) forward(SIGCONT, GuardMessage::Kind::signal);
  }

  [[nodiscard]] int exit_status() const {
    const int status = *supervisor_status_;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    say("its supervisor (pid " + std::to_string(supervisor_) + ") was killed by " + signal_name(WTERMSIG(status)) +
        "; every process of the job was ended. `forklift report` shows what is known of the run.");
    return forklift_failed;
  }

  Duration kill_timeout_;
  Descriptor channel_;
  Descriptor signals_;
  pid_t supervisor_;
  std::set<ProcessIdentity> spared_;
  Descriptor host_;  ///< pidfd of a host program; invalid in the command line.
  std::optional<int> supervisor_status_;
  int fatal_signal_ = 0;
};

sigset_t guarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : forwarded_signals) {
    // A blocked signal is queued even if it is ignored, so an ignored one must not be in the set.
    if (!is_ignored(signal)) sigaddset(&set, signal);
  }
  return set;
}

/// Does not return. The supervisor blocks every signal: the ones that matter come from the guard.
[[noreturn]] void become_supervisor(const GuardSettings& settings, pid_t guard, SupervisorSeat seat,
                                    const std::function<int(SupervisorSeat)>& supervise) {
  take_supervisor_role();
  if (settings.isolation == Isolation::requested) mount_own_proc();
  const int status = supervise(std::move(seat));
  // What the loop gave up on, as a fork storm, is the guard's to end, and ours if the guard was killed. (The end of a
  // pid namespace's first process ends all of it.)
  const bool guard_lost = settings.isolation == Isolation::none && ::getppid() != guard;
  if (guard_lost && has_children()) end_descendants({}, milliseconds_of(settings.kill_timeout));
  std::fflush(nullptr);
  ::_exit(status);
}

[[noreturn]] void die_of(int signal) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::_exit(128 + signal);  // PID 1 does not die of it.
}

int fail(const std::string& sentence) {
  say(sentence);
  return forklift_failed;
}

}  // namespace

int run_guarded(const GuardSettings& settings, const std::function<int(SupervisorSeat)>& supervise) {
  std::set<ProcessIdentity> spared;
  ::signal(SIGCHLD, SIG_DFL);  // Inherited as ignored, it would make the kernel throw exit statuses away.
  if (has_children()) spared = children_of_self();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (settings.isolation == Isolation::requested) {
    if (const auto entered = enter_new_pid_namespace(); !entered) return fail(entered.error().message);
  }
  auto channel = make_guard_channel();
  if (!channel) return fail(channel.error().message);

  SupervisorSeat seat;
  sigset_t guarded = guarded_signals();
  sigset_t blocked = guarded;
  sigaddset(&blocked, SIGTTOU);  // So that we may take the terminal back from the background.
  sigaddset(&blocked, SIGPIPE);  // A reader of our stderr that is gone must not end us.
  ::sigprocmask(SIG_BLOCK, &blocked, &seat.original_mask);
  const sigset_t before = seat.original_mask;
  Descriptor signals(::signalfd(-1, &guarded, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return fail("cannot watch signals: " + explain_refusal(errno));

  SavedTerminal terminal(settings.interaction);
  std::fflush(nullptr);
  const pid_t own_pid = ::getpid();
  const pid_t supervisor = ::fork();
  if (supervisor < 0) return fail("cannot start the supervisor: " + explain_refusal(errno));
  if (supervisor == 0) {
    channel.value().first.close();
    signals.close();
    seat.guard = std::move(channel.value().second);
    become_supervisor(settings, own_pid, std::move(seat), supervise);
  }
  ::setpgid(supervisor, supervisor);  // Whoever is first, parent or child.
  channel.value().second.close();

  if (settings.meanwhile) settings.meanwhile();
  Guard guard(settings.kill_timeout, std::move(channel.value().first), std::move(signals), supervisor,
              std::move(spared), {});
  const int status = guard.run(terminal);
  if (guard.fatal_signal() != 0) die_of(guard.fatal_signal());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return status;
}

void take_supervisor_role() {
  ::signal(SIGCHLD, SIG_DFL);  // A host program may ignore it, which an exec keeps: no end of a replica would be seen.
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setpgid(0, 0);
  set_process_title("lift-supervisor");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int run_hosted_guard(HostedGuard seat) {
  ::signal(SIGCHLD, SIG_DFL);  // As above; and a supervisor that has ended already is waited for no more.
  // Everything was blocked when the host forked us, so nothing is lost that came before this.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t guarded = guarded_signals();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  Descriptor signals(::signalfd(-1, &guarded, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return fail("cannot watch signals: " + explain_refusal(errno));
  if (seat.meanwhile) seat.meanwhile();
  SavedTerminal no_terminal(Interaction::none);
  Guard guard(seat.kill_timeout, std::move(seat.channel), std::move(signals), seat.supervisor, {},
              std::move(seat.host));
  return guard.run(no_terminal);
}

}  // namespace forklift
