// What a request to stop means after those that came before it.
//
// Every ordered pair of requests to a running group, with time left on the ladder (the asker matters for INT only):
//
//     first ►         INT         TERM     HUP      QUIT
//   then ▼
//   INT, terminal     kill now*   forward  forward  forward
//   INT, outside      nothing     forward  forward  forward
//   TERM              forward     nothing  forward  forward
//   HUP               forward     forward  nothing  forward
//   QUIT              forward     forward  forward  nothing
//
// *  If the first came from the terminal as well, more than a second before; else nothing. A person who presses Ctrl-C
//    again is impatient. GNU timeout, systemd and Slurm send twice without being so: a repeat within a second is the
//    same request, and a repeated SIGTERM changes nothing ever.
//
// "Forward" sends the signal to the replicas and prolongs nothing. While a failed replica's siblings are being stopped
// (they have got SIGTERM from us) the first request of any kind is just a first one: it forbids another attempt, leaves
// the result `failed`, and is forwarded unless it is SIGTERM; a Ctrl-C kills only when it is repeated.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>

#include "forklift/outcome.hpp"
#include "forklift/request.hpp"
#include "launcher/policy/event.hpp"

namespace forklift::policy {

/// A repetition within this time is the same request.
inline constexpr Duration same_request_within = std::chrono::seconds(1);

/// The signals that ask a job to end.
constexpr bool is_stop_signal(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/// True if a replica that nobody had asked may have ended by the same hand that is about to stop the whole job.
inline bool may_be_stopped_from_outside(const Outcome& outcome) {
  const auto* signalled = std::get_if<Signalled>(&outcome);
  return signalled != nullptr && is_stop_signal(signalled->signal);
}

enum class Urgency {
  patient,    ///< The replicas get the signal and their grace.
  impatient,  ///< SIGKILL now.
};

/// The stop requests of a run, over all attempts.
class StopRequests {
 public:
  Urgency take(const StopRequested& request, Instant now);

  [[nodiscard]] bool any() const { return first_signal_ != 0; }
  /// The signal of the first request, which is the one that stopped the run; 0: none.
  [[nodiscard]] int first_signal() const { return first_signal_; }
  /// Who made the first request.
  [[nodiscard]] std::optional<Asker> first_asker() const { return first_asker_; }

 private:
  int first_signal_ = 0;
  std::optional<Asker> first_asker_;
  std::optional<Instant> interrupted_at_;  ///< The first SIGINT from the terminal.
};

}  // namespace forklift::policy
