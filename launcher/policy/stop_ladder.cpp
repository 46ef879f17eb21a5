#include "launcher/policy/stop_ladder.hpp"

#include <algorithm>

#include "launcher/policy/instant.hpp"

namespace forklift::policy {

StopLadder StopLadder::politely(const StopRules& rules, int signal, Instant now, Actions& actions) {
  if (rules.shutdown_timeout <= Duration::zero()) return at_kill(rules, now, actions);
  StopLadder ladder(rules);
  ladder.deadline_ = after(now, rules.shutdown_timeout);
  ladder.ask(signal, actions);
  return ladder;
}

StopLadder StopLadder::at_kill(const StopRules& rules, Instant now, Actions& actions) {
  StopLadder ladder(rules);
  ladder.kill(now, actions);
  return ladder;
}

void StopLadder::ask(int signal, Actions& actions) {
  if (rung_ != Rung::polite || std::ranges::find(asked_, signal) != asked_.end()) return;
  asked_.push_back(signal);
  actions.push_back(StopReplicas{signal});
}

void StopLadder::kill(Instant now, Actions& actions) {
  if (rung_ != Rung::polite) return;
  rung_ = Rung::killing;
  deadline_ = after(now, rules_.kill_timeout);
  actions.push_back(KillReplicas{});
}

void StopLadder::climb(Instant now, Actions& actions) {
  switch (rung_) {
    case Rung::polite:
      return kill(now, actions);
    case Rung::killing:
      rung_ = Rung::abandoned;
      actions.push_back(AbandonReplicas{});
      return;
    case Rung::abandoned:
      return;
  }
}

}  // namespace forklift::policy
