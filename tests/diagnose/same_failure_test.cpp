#include "launcher/diagnose/same_failure.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::traceback_ending_in;

Ending culprit_saying(const std::string& words) { return an_ending(0).exited(1).saying(words); }

TEST(SameFailure, SameException_IsShared) {
  const FailureWords words(culprit_saying(traceback_ending_in("ValueError: shard 3 of rank 0 is bad")));
  const std::string same = traceback_ending_in("ValueError: shard 17 of rank 1 is bad");
  EXPECT_TRUE(words.shared_by(an_ending(1).exited(1).saying(same)));
  EXPECT_TRUE(words.shared_by(an_ending(1).exited(1).saying(same).asked(AskedToStop::politely)));
  EXPECT_TRUE(words.shared_by(an_ending(1).killed_by(SIGTERM).saying(same).asked(AskedToStop::politely)));
}

TEST(SameFailure, OtherEnds_AreNotShared) {
  const FailureWords words(culprit_saying(traceback_ending_in("ValueError: bad shard")));
  EXPECT_FALSE(words.shared_by(an_ending(1).exited(1).saying(traceback_ending_in("ValueError: bad batch"))));
  EXPECT_FALSE(words.shared_by(an_ending(1).exited(1).saying("ValueError: bad shard, says the log\n")));
  EXPECT_FALSE(words.shared_by(an_ending(1).exited(0).saying(traceback_ending_in("ValueError: bad shard"))));
  EXPECT_FALSE(words.shared_by(an_ending(1).killed_by(SIGTERM).asked(AskedToStop::politely)));
}

TEST(SameFailure, NativeProgram_NeedsTheSameCodeAndTheSameLastLine) {
  const FailureWords words(an_ending(0).exited(3).saying("begin\nrank 0: no licence\n\n"));
  EXPECT_TRUE(words.shared_by(an_ending(1).exited(3).saying("rank 1: no licence\n")));
  EXPECT_FALSE(words.shared_by(an_ending(1).exited(4).saying("rank 1: no licence\n")));
  EXPECT_FALSE(words.shared_by(an_ending(1).exited(3).saying("rank 1: no data\n")));
  EXPECT_FALSE(FailureWords(an_ending(0).exited(3)).shared_by(an_ending(1).exited(3)));
}

}  // namespace
}  // namespace forklift
