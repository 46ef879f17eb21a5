// The check at the end of every system test: nothing of it is left in this process or on this machine.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <set>
#include <string>
#include <vector>

namespace forklift::support {

/// What a test could leave behind.
struct Belongings {
  std::vector<int> children;             ///< Running, or ended and not waited for.
  std::vector<std::string> descriptors;  ///< "3 → /path", without the one used to look.
  std::vector<int> blocked_signals;
  std::set<std::string> shared_memory;  ///< Files in /dev/shm; other people's are among them.
  int temporary_directories = 0;
  int subreaper = 0;  ///< Whether orphans come to this process.
};

Belongings look_at_belongings();

/// One sentence for each difference; none if nothing was left.
std::vector<std::string> differences(const Belongings& before, const Belongings& after);

/// A fixture for system tests. It compares in its destructor, that is after the members of the test's own fixture are
/// gone.
class LeakChecked : public ::testing::Test {
 protected:
  LeakChecked();
  ~LeakChecked() override;

 private:
  Belongings before_;
};

}  // namespace forklift::support
