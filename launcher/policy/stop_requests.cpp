#include "launcher/policy/stop_requests.hpp"

namespace forklift::policy {

Urgency StopRequests::take(const StopRequested& request, Instant now) {
  if (!any()) {
    first_signal_ = request.signal;
    first_asker_ = request.asker;
  }
  if (request.signal != SIGINT || request.asker != Asker::terminal) return Urgency::patient;
  if (!interrupted_at_) interrupted_at_ = now;
  // Measured from the first: whoever hammers on Ctrl-C must not postpone the kill by every blow.
  return now - *interrupted_at_ > same_request_within ? Urgency::impatient : Urgency::patient;
}

}  // namespace forklift::policy
