#include "launcher/policy/descendant_sweep.hpp"

#include "launcher/policy/instant.hpp"

namespace forklift::policy {

DescendantSweep DescendantSweep::after_success(const SweepWaits& waits, Actions& actions) {
  actions.push_back(SweepDescendants{SweepHow::look});
  return DescendantSweep(waits);
}

DescendantSweep DescendantSweep::after_stop(const SweepWaits& waits, Instant give_up_at, Actions& actions) {
  DescendantSweep sweep(waits);
  sweep.kill(give_up_at, actions);
  return sweep;
}

SweepProgress DescendantSweep::counted(int left, Instant now, Actions& actions) {
  if (left == 0) return SweepProgress::clean;
  if (how_ == SweepHow::look) {
    // Named before they are ended: afterwards there is nothing left to read a name from.
    name(actions);
    how_ = SweepHow::politely;
    deadline_ = after(now, waits_.grace);
    actions.push_back(SweepDescendants{how_});
  }
  return SweepProgress::under_way;
}

SweepProgress DescendantSweep::overdue(Instant now, Actions& actions) {
  if (how_ != SweepHow::kill) {
    kill(after(now, waits_.kill_timeout), actions);
    return SweepProgress::under_way;
  }
  name(actions);
  return SweepProgress::given_up;
}

void DescendantSweep::hurry(Instant now, Actions& actions) {
  if (how_ != SweepHow::kill) kill(after(now, waits_.kill_timeout), actions);
}

void DescendantSweep::name(Actions& actions) {
  if (naming_ == Naming::done) return;
  naming_ = Naming::done;
  actions.push_back(NameLeftovers{});
}

void DescendantSweep::kill(Instant give_up_at, Actions& actions) {
  how_ = SweepHow::kill;
  deadline_ = give_up_at;
  actions.push_back(SweepDescendants{how_});
}

}  // namespace forklift::policy
