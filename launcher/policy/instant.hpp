// Arithmetic on instants that cannot overflow: a user may ask for a grace of 200 years.
#pragma once

#include "forklift/request.hpp"
#include "launcher/policy/event.hpp"

namespace forklift::policy {

/// `wait` (≥ 0) after `now`; the last representable instant where that is later still.
constexpr Instant after(Instant now, Duration wait) {
  return wait > Instant::max() - now ? Instant::max() : now + wait;
}

}  // namespace forklift::policy
