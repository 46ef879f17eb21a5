#include "launcher/policy/time_limit.hpp"

#include <algorithm>

#include "launcher/policy/instant.hpp"

namespace forklift::policy {

void TimeLimit::begin(Instant now) {
  if (!rules_.limit) return;
  stop_at_ = after(now, *rules_.limit);
  if (rules_.checkpoint_signal != 0) checkpoint_at_ = std::max(now, *stop_at_ - rules_.checkpoint_lead);
}

void TimeLimit::cancel() {
  checkpoint_at_.reset();
  stop_at_.reset();
}

}  // namespace forklift::policy
