// The ForkStarter beside templates of every kind.
#include "launcher/supervise/fork_starter.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "tests/supervise/fork_stage.hpp"
#include "worker/fork_server.hpp"

namespace forklift {
namespace {

using namespace std::chrono_literals;
using Told = std::vector<std::string>;

// ---- as it should be ----------------------------------------------------------------------------------------------

TEST_F(ForkStarterTest, RealForkServer_RunsEveryReplica) {
  stage(3, [](ControlSocket control) {
    const ReplicaSeat seat = serve_forks(std::move(control), {});
    ::_exit(0);
  });
  until("forked");
  EXPECT_EQ(running(), 3U);
  EXPECT_FALSE(starter().forking());
  EXPECT_TRUE(starter().process().alive());
  EXPECT_TRUE(notes().empty());
}

TEST_F(ForkStarterTest, PacketsOfStrangers_ChangeNothing) {
  stage(2, [](ControlSocket control) {
    const auto rubbish = [&] { std::ignore = ::send(control.get(), "rubbish", 7, MSG_NOSIGNAL); };
    rubbish();
    std::ignore = control.send(control::Go{1});
    std::ignore = control.send(control::Forked{Attempt{0}});
    auto requests = ready_for_group(control);
    rubbish();
    std::ignore = control.send(control::Ready{});
    std::ignore = control.send(control::Forked{Attempt{7}});
    for (Request& request : requests) make_replica(request, hello_of(request));
    std::ignore = control.send(control::Forked{Attempt{0}});
    wait_for_ever();
  });
  until("forked");
  EXPECT_EQ(running(), 2U);
}

// ---- a group that is not forked -----------------------------------------------------------------------------------

TEST_F(ForkStarterTest, TemplateThatNeverAnswers_IsEndedAfterItsTime) {
  stage(
      3,
      [](ControlSocket control) {
        ready_for_group(control);
        wait_for_ever();
      },
      50ms);
  until("forked");
  EXPECT_EQ(told(), (Told{"template gone", "failed 0 ETIMEDOUT", "complete without 1 2", "forked"}));
  ASSERT_EQ(notes().size(), 1U);
  EXPECT_NE(notes().front().find("did not fork its replicas within 0.05 s"), std::string::npos) << notes().front();
}

TEST_F(ForkStarterTest, TemplateThatReadsNoRequests_IsEndedAfterItsTime) {
  stage(
      2000,
      [](ControlSocket control) {
        std::ignore = control.send(control::Ready{});
        wait_for_ever();
      },
      200ms);
  until("forked");
  EXPECT_EQ(told().at(1), "failed 0 ETIMEDOUT");
  EXPECT_EQ(running(), 0U);
}

TEST_F(ForkStarterTest, ForkedWithoutForking_FailsTheFirstAndSparesTheOthers) {
  stage(3, [](ControlSocket control) {
    ready_for_group(control);  // Their sockets are closed with what it returns.
    std::ignore = control.send(control::Forked{Attempt{0}});
    wait_for_ever();
  });
  until("forked");
  EXPECT_EQ(told(), (Told{"failed 0 ECONNRESET", "complete without 1 2", "forked"}));
}

TEST_F(ForkStarterTest, ForkedBeforeAllWereAskedFor_TellsOfEachOnce) {
  at_failure_ = AtFailure::go_on;
  constexpr int many = 1000;
  stage(many, [](ControlSocket control) {
    std::ignore = control.send(control::Ready{});
    Arrived arrived;
    expect<control::ForkGroup>(control, arrived);
    expect<control::ForkReplica>(control, arrived);
    std::ignore = control.send(control::Forked{Attempt{0}});
    Arrival arrival = Arrival::nothing;
    while (arrival != Arrival::closed) {
      Arrived dropped;  // What was asked for until then; its socket is closed before the next is waited for.
      arrival = control.receive(dropped);
    }
  });
  until("complete without");
  EXPECT_EQ(told().size(), static_cast<std::size_t>(many) + 2);
  EXPECT_EQ(running(), 0U);
}

TEST_F(ForkStarterTest, OneForkFailed_TheOthersThatWereLetGoRun) {
  stage(4, [](ControlSocket control) {
    auto requests = ready_for_group(control);
    for (Request& request : requests) {
      if (request.wanted.rank == Rank{2}) {
        std::ignore = request.control.send(control::ForkFailed{EAGAIN});
      } else {
        make_replica(request, hello_of(request));
      }
    }
    std::ignore = control.send(control::Forked{Attempt{0}});
    wait_for_ever();
  });
  until("forked");
  // A first word may be late: then its replica is spared.
  EXPECT_EQ(std::count(told().begin(), told().end(), "failed 2 EAGAIN"), 1);
  EXPECT_LE(running(), 3U);
}

TEST_F(ForkStarterTest, WordsOfAWrongOrStrangeReplica_AreNotTaken) {
  at_failure_ = AtFailure::go_on;
  stage(3, [](ControlSocket control) {
    auto requests = ready_for_group(control);
    make_replica(requests[0], control::Hello{Attempt{0}, Rank{1}});
    make_replica(requests[1], control::Go{1});
    if (::fork() == 0) {  // A child of the template, and not of the supervisor.
      std::ignore = requests[2].control.send(hello_of(requests[2]));
      wait_for_ever();
    }
    requests.clear();
    std::ignore = control.send(control::Forked{Attempt{0}});
    wait_for_ever();
  });
  until("complete without");
  for (const char* const rank : {"0", "1", "2"}) {
    EXPECT_EQ(std::count(told().begin(), told().end(), std::string("failed ") + rank + " ECHILD"), 1) << rank;
  }
  EXPECT_EQ(running(), 0U);
}

TEST_F(ForkStarterTest, FirstWordThatNeverComes_EndsTheStartAfterItsTime) {
  stage(
      3,
      [](ControlSocket control) {
        const auto requests = ready_for_group(control);
        std::ignore = control.send(control::Forked{Attempt{0}});
        wait_for_ever();
      },
      50ms);
  until("forked");
  EXPECT_EQ(told(), (Told{"failed 0 ETIMEDOUT", "complete without 1 2", "forked"}));
  EXPECT_NE(notes().front().find("forked replicas that did not speak"), std::string::npos);
}

// ---- a template that ends -----------------------------------------------------------------------------------------

TEST_F(ForkStarterTest, EndWhileLoading_IsItsFailure) {
  stage(2, [](const ControlSocket&) { ::_exit(7); });
  until("forked");
  EXPECT_EQ(told(), (Told{"template gone", "template failed", "complete without 0 1", "forked"}));
  ASSERT_TRUE(starter().failed_template());
  EXPECT_EQ(starter().failed_template()->outcome, Outcome(Exited{7}));
}

TEST_F(ForkStarterTest, EndWhileForking_IsItsFailureAndHalfMadeReplicasLeave) {
  stage(2, [](ControlSocket control) {
    auto requests = ready_for_group(control);
    make_replica(requests[0], hello_of(requests[0]));
    ::raise(SIGKILL);
  });
  until("forked");
  EXPECT_EQ(told(), (Told{"template gone", "template failed", "complete without 0 1", "forked"}));
  // No Go was sent: the half-made replica ends by itself, and has only to be reaped.
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(ForkStarterTest, EndWhileReplicasRun_IsANoteAndNoFailure) {
  stage(1, [](ControlSocket control) {
    auto requests = ready_for_group(control);
    make_replica(requests[0], hello_of(requests[0]));
    std::ignore = control.send(control::Forked{Attempt{0}});
    wait_for_ever();
  });
  until("forked");
  ::kill(template_pid(), SIGKILL);
  until("template gone");
  EXPECT_EQ(notes(), Told{"the template has ended while its replicas run; a restart would load it again"});
  EXPECT_FALSE(starter().failed_template());
  EXPECT_EQ(running(), 1U);
}

// ---- cancelled ----------------------------------------------------------------------------------------------------

TEST_F(ForkStarterTest, CancelledWhileLoading_CompletesWhenTheTemplateHasEnded) {
  stage(2, [](const ControlSocket&) { wait_for_ever(); });
  starter().cancel();
  run_ready(io());
  EXPECT_TRUE(told().empty()) << "the stop ladder sees to its end";
  starter().kill();
  until("forked");
  EXPECT_EQ(told(), (Told{"template gone", "template failed", "complete without 0 1", "forked"}));
}

TEST_F(ForkStarterTest, CancelledBeforeReady_AsksForNothing) {
  stage(2, [](ControlSocket control) {
    std::ignore = control.send(control::Ready{});
    Arrived arrived;
    expect<control::ForkGroup>(control, arrived);
    ::_exit(9);
  });
  starter().cancel();
  until("forked");
  EXPECT_EQ(told(), (Told{"complete without 0 1", "forked"}));
  EXPECT_TRUE(starter().process().alive());
}

TEST_F(ForkStarterTest, CancelledInTheMiddleOfTheRequests_EndsTheTemplate) {
  stage(2000, [](ControlSocket control) {
    std::ignore = control.send(control::Ready{});
    wait_for_ever();
  });
  run_until(io(), [&] { return starter().forking(); });
  starter().cancel();
  until("forked");
  EXPECT_EQ(running(), 0U);
  EXPECT_EQ(std::count(told().begin(), told().end(), "template gone"), 1);
}

TEST_F(ForkStarterTest, CancelledWhileGreeting_SparesThoseThatHaveNotSpoken) {
  stage(3, [](ControlSocket control) {
    auto requests = ready_for_group(control);
    make_replica(requests[1], hello_of(requests[1]));
    std::ignore = control.send(control::Forked{Attempt{0}});
    wait_for_ever();
  });
  until("runs 1");
  starter().cancel();
  until("forked");
  EXPECT_EQ(told(), (Told{"runs 1", "complete without 0 2", "forked"}));
  run_ready(io());  // Handlers that were on their way find nothing.
}

TEST_F(ForkStarterTest, StartedAgain_AsksTheSameTemplateForTheNextAttempt) {
  stage(2, [](ControlSocket control) {
    serve_forks(std::move(control), {});
    ::_exit(0);
  });
  until("forked");
  const int before = starter().process().pid();
  for (const int attempt : {1, 2}) {
    const std::size_t told_before = told().size();
    starter().start({Attempt{attempt}, "/nowhere", {}}, client());
    run_until(io(), [&] { return told().size() >= told_before + 4; });
    EXPECT_EQ(told().back(), "forked");
  }
  EXPECT_EQ(running(), 6U);
  EXPECT_EQ(starter().process().pid(), before);
}

}  // namespace
}  // namespace forklift
