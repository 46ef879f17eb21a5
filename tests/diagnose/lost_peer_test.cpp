#include "launcher/diagnose/lost_peer.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "launcher/diagnose/plain_text.hpp"
#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::expect_says;
using testing::joined;
using testing::lost_peer;
using testing::traceback_ending_in;

RootCause cause_of(const std::vector<Ending>& endings) {
  return diagnose(testing::a_python_plan(4), endings, {}).value();
}

TEST(LostPeer, ReplicaHadLeftWithSuccessBefore_IsTheLikelyCause) {
  const RootCause cause = cause_of({an_ending(0).exited(0).order(0), an_ending(1).exited(1).saying(lost_peer).order(1),
                                    an_ending(2).exited(1).saying(lost_peer).order(2)});
  EXPECT_EQ(cause.rank, Rank{1});
  EXPECT_EQ(cause.diagnosis.summary,
            "Rank 1 (pid 1001) lost a peer: likely rank 0, which had exited with code 0 while the other replicas "
            "still needed it.");
  EXPECT_EQ(cause.diagnosis.confidence, Confidence::likely);
  expect_says(cause.diagnosis.evidence, "it raised RuntimeError: [pair.cc:534] Connection closed by peer");
  expect_says(cause.diagnosis.evidence, "rank 0 (pid 1000) had exited with code 0, 0.0 s before");
  expect_says({cause.diagnosis.advice.front()}, "why rank 0 left so early");
  EXPECT_FALSE(cause.diagnosis.traceback.empty());
}

TEST(LostPeer, SeveralHadLeft_AreAllNamed) {
  const RootCause cause = cause_of({an_ending(2).exited(0).order(0), an_ending(0).exited(0).order(1),
                                    an_ending(1).exited(1).saying("Connection reset by peer\n").order(2)});
  EXPECT_TRUE(contains(cause.diagnosis.summary, "likely ranks 2, 0, which")) << cause.diagnosis.summary;
}

TEST(LostPeer, NobodyLeftBefore_IsNobodysFault) {
  const std::vector<Ending> innocents{an_ending(0).exited(0).order(9),
                                      an_ending(0).exited(0).order(0).asked(AskedToStop::politely),
                                      an_ending(0).killed_by(SIGTERM).order(0).asked(AskedToStop::politely)};
  for (const Ending& other : innocents) {
    const RootCause cause = cause_of({other, an_ending(1).exited(1).saying(lost_peer).order(1)});
    EXPECT_FALSE(contains(cause.diagnosis.summary, "lost a peer")) << cause.diagnosis.summary;
  }
}

TEST(LostPeer, OnSeveralMachines_PointsToTheOthers) {
  Plan plan = testing::a_python_plan(2);
  plan.num_nodes = 3;
  const RootCause cause = diagnose(plan, {an_ending(1).exited(1).saying(lost_peer).order(0)}, {}).value();
  EXPECT_TRUE(contains(cause.diagnosis.summary, "likely a replica on another machine")) << cause.diagnosis.summary;
  expect_says({cause.diagnosis.advice.front()}, "reports of the other 2 machines");
}

TEST(LostPeer, FailureWithoutAPeer_HasNothingToDoWithThoseThatLeft) {
  const RootCause cause = cause_of(
      {an_ending(0).exited(0).order(0), an_ending(1).exited(1).saying(traceback_ending_in("ValueError: b")).order(1)});
  EXPECT_EQ(cause.diagnosis.summary, "Rank 1 (pid 1001) raised ValueError: b.");
}

}  // namespace
}  // namespace forklift
