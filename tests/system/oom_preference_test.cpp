#include "launcher/system/oom_preference.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/support/leak_check.hpp"
#include "worker/descriptor.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

class OomPreference : public support::LeakChecked {};

std::string own_score() {
  return std::to_string(std::atoi(read_kernel_file("/proc/self/oom_score_adj").value_or("").c_str()));
}

/// What a process of this score has meanwhile and afterwards; in a process of its own, whose score is its own.
void expect_scores(const std::string& own, const std::string& meanwhile) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    if (::write(file.get(), own.data(), own.size()) < 0) ::_exit(9);
    bool as_expected = false;
    {
      const ChildrenPreferredAsOomVictims preferred;
      as_expected = own_score() == meanwhile;
    }
    ::_exit(as_expected && own_score() == own ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "own score " << own << ", wanted meanwhile: " << meanwhile;
}

TEST_F(OomPreference, LowScore_IsRaisedForTheChildrenAndGivenBack) { expect_scores("100", "500"); }

// In a container that is to go first itself, a fixed score would make us go before our replicas.
TEST_F(OomPreference, HighScore_IsWhatTheChildrenInherit) { expect_scores("1000", "1000"); }

}  // namespace
}  // namespace forklift
