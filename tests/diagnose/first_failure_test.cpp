#include <gtest/gtest.h>

#include <csignal>

#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::lost_peer;
using testing::traceback_ending_in;

/// Rank of the root cause, or -1.
int root_of(const std::vector<Ending>& endings) {
  const Ending* root = find_root_cause(endings);
  return root == nullptr ? -1 : root->rank.value;
}

TEST(RootCause, AllSucceeded_IsNone) { EXPECT_EQ(root_of({an_ending(0).exited(0), an_ending(1).exited(0)}), -1); }

TEST(RootCause, AllFailuresAskedFor_IsNone) {
  EXPECT_EQ(root_of({an_ending(0).killed_by(SIGTERM).asked(AskedToStop::politely),
                     an_ending(1).killed_by(SIGKILL).asked(AskedToStop::killed),
                     an_ending(2).exited(143).asked(AskedToStop::politely)}),
            -1);
}

TEST(RootCause, FirstInKernelOrder_NotInRankOrder) {
  EXPECT_EQ(root_of({an_ending(0).exited(1).order(5), an_ending(1).exited(2).order(3), an_ending(2).exited(0).order(1),
                     an_ending(3).killed_by(SIGTERM).asked(AskedToStop::politely)}),
            1);
}

TEST(RootCause, WitnessOfALostPeer_YieldsToALaterFailure) {
  EXPECT_EQ(root_of({an_ending(0).exited(1).saying(lost_peer), an_ending(1).killed_by(SIGSEGV)}), 1);
}

TEST(RootCause, OnlyWitnesses_IsTheFirst) {
  EXPECT_EQ(root_of({an_ending(0).exited(1).saying(lost_peer), an_ending(1).exited(1).saying(lost_peer)}), 0);
}

TEST(RootCause, CulpritDiedSlowlyAfterOurRequest_IsStillTheCulprit) {
  const std::vector<Ending> dying{
      an_ending(1).killed_by(SIGKILL).asked(AskedToStop::politely),
      an_ending(1).killed_by(SIGSEGV).asked(AskedToStop::politely),
      an_ending(1).exited(1).saying(traceback_ending_in("ValueError: b")).asked(AskedToStop::politely)};
  for (const Ending& culprit : dying) {
    EXPECT_EQ(root_of({an_ending(0).exited(1).saying(lost_peer), culprit}), 1);
  }
}

TEST(RootCause, StoppedReplicas_NeverTakeTheBlameFromAWitness) {
  const std::vector<Ending> stopped{
      an_ending(1).killed_by(SIGTERM).asked(AskedToStop::politely),
      an_ending(1).killed_by(SIGKILL).asked(AskedToStop::killed),
      an_ending(1).exited(143).asked(AskedToStop::politely),
      an_ending(1).killed_by(SIGABRT).asked(AskedToStop::politely),
      an_ending(1).exited(1).saying(traceback_ending_in("KeyboardInterrupt")).asked(AskedToStop::politely),
      an_ending(1).exited(1).saying(lost_peer).asked(AskedToStop::politely)};
  for (const Ending& other : stopped) {
    EXPECT_EQ(root_of({an_ending(0).exited(1).saying(lost_peer), other}), 0);
  }
}

TEST(RootCause, FailedToStart_IsAFailure) {
  EXPECT_EQ(root_of({an_ending(0).failed_to_start(StartStep::clone, 11, "")}), 0);
}

TEST(Diagnose, NothingFailedByItself_IsEmpty) {
  EXPECT_FALSE(diagnose(testing::a_python_plan(1), {an_ending(0).exited(0)}, {}));
}

TEST(Diagnose, MissingCapabilities_AreInTheEvidence) {
  AttemptEvidence evidence;
  evidence.capabilities_missing = {"pidfd", "clone3"};
  EXPECT_EQ(testing::diagnosis_of(an_ending(0).exited(3), evidence).evidence.back(),
            "not available on this machine: pidfd, clone3");
}

}  // namespace
}  // namespace forklift
