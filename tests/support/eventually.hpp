// Where the kernel is asynchronous: a condition that becomes true, instead of a wait that is hoped to be long enough.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <type_traits>

namespace forklift::support {

/// So long that only a broken program or a broken machine reaches it. A test that passes never waits for it.
constexpr std::chrono::seconds generous{30};

/// What a look has seen: whether it is as it should be, and in words what it was.
struct Seen {
  bool as_expected = false;
  std::string description;
};

/// Looks again and again until `look()` (a bool or a Seen) is as expected. A failure tells what was seen last.
template <class Look>
::testing::AssertionResult eventually(Look look, std::chrono::milliseconds deadline = generous) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    Seen seen;
    if constexpr (std::is_convertible_v<decltype(look()), bool>) {
      seen.as_expected = look();
    } else {
      seen = look();
    }
    if (seen.as_expected) return ::testing::AssertionSuccess();
    if (std::chrono::steady_clock::now() >= end) {
      return ::testing::AssertionFailure()
             << "not within " << deadline.count()
             << " ms; seen last: " << (seen.description.empty() ? "false" : seen.description);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace forklift::support
