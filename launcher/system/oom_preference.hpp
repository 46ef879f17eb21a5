// Who is to go first when the memory ends.
#pragma once

#include <optional>
#include <string>

namespace forklift {

/// For its lifetime processes that we start are chosen by the OOM killer before us, by inheritance: we are a likely
/// victim ourselves meanwhile. A child that writes its own score would open a file of /proc each time, which takes
/// longer than all the rest of its set-up. Best effort: without permission or /proc nothing changes.
class ChildrenPreferredAsOomVictims {
 public:
  ChildrenPreferredAsOomVictims();
  ChildrenPreferredAsOomVictims(const ChildrenPreferredAsOomVictims&) = delete;
  ChildrenPreferredAsOomVictims& operator=(const ChildrenPreferredAsOomVictims&) = delete;
  ~ChildrenPreferredAsOomVictims();

 private:
  std::optional<std::string> before_;
};

}  // namespace forklift
