#include "launcher/supervise/clock.hpp"

#include <fmt/format.h>
#include <time.h>

namespace forklift {

std::string RunClock::wall() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec, &local);
  const long offset = local.tm_gmtoff / 60;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}{}{:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1'000'000,
                     offset < 0 ? '-' : '+', (offset < 0 ? -offset : offset) / 60,
                     (offset < 0 ? -offset : offset) % 60);
}

}  // namespace forklift
