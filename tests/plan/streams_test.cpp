#include <gtest/gtest.h>

#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

/// "stdin stdout stderr" of each local replica.
std::vector<std::string> routes(const Plan& plan) {
  const auto word = [](StreamRoute route) -> std::string {
    switch (route) {
      case StreamRoute::console:
        return "console";
      case StreamRoute::file:
        return "file";
      case StreamRoute::console_and_file:
        return "tee";
      case StreamRoute::kept_only:
        return "kept";
      case StreamRoute::terminal:
        return "terminal";
    }
    return "?";
  };
  std::vector<std::string> texts;
  for (const ReplicaPlan& replica : plan.replicas) {
    const std::string input = replica.standard_input == StdinRoute::inherited ? "inherited " : "null ";
    texts.push_back(input + word(replica.standard_output) + " " + word(replica.standard_error));
  }
  return texts;
}

using Routes = std::vector<std::string>;

TEST(Streams, ByDefault_GoToTheConsoleAndStdinIsRankZeros) {
  EXPECT_EQ(routes(a_request().in_total(2).planned()), (Routes{"inherited console console", "null console console"}));
}

TEST(Streams, StdinOnATerminal_IsNobodys) {
  for (const Terminals which : {Terminals::input_only, Terminals::all}) {
    EXPECT_EQ(routes(a_request().in_total(2).terminal(which).planned()),
              (Routes{"null console console", "null console console"}));
  }
}

TEST(Streams, OfTheSecondNode_DoNotGetStdin) {
  EXPECT_EQ(routes(a_request().in_total(2).machines(2, 1).planned()), (Routes{"null console console"}));
}

TEST(Streams, Masks_ApplyByLocalRankAndTeeWins) {
  RequestBuilder builder = a_request().in_total(3).terminal(Terminals::input_only);
  builder.request.redirects = {Streams::both, {{LocalRank{1}, Streams::standard_error}}};
  builder.request.tee = {Streams::none, {{LocalRank{2}, Streams::standard_output}}};
  EXPECT_EQ(routes(builder.planned()), (Routes{"null file file", "null console file", "null tee file"}));
}

TEST(Streams, ConsoleFilter_KeepsOnlyTheTailOfOthers) {
  RequestBuilder builder = a_request().in_total(3).terminal(Terminals::input_only);
  builder.request.console_ranks = {LocalRank{0}};
  builder.request.tee = {Streams::none, {{LocalRank{2}, Streams::standard_output}}};
  EXPECT_EQ(routes(builder.planned()), (Routes{"null console console", "null kept kept", "null file kept"}));
}

TEST(Streams, LocalRankThatIsNotHere_IsRefused) {
  RequestBuilder filter = a_request().in_total(2);
  filter.request.console_ranks = {LocalRank{2}};
  EXPECT_NE(filter.refused().find("--local-ranks-filter: there is no local rank 2"), std::string::npos);
  RequestBuilder redirects = a_request().in_total(2);
  redirects.request.redirects.by_local_rank[LocalRank{5}] = Streams::both;
  EXPECT_NE(redirects.refused().find("--redirects: there is no local rank 5"), std::string::npos);
  RequestBuilder tee = a_request().in_total(2);
  tee.request.tee.by_local_rank[LocalRank{-1}] = Streams::both;
  EXPECT_NE(tee.refused().find("--tee: there is no local rank -1"), std::string::npos);
}

TEST(Interactive, WorldOfOneOnATerminal_IsInteractiveAndUnprefixed) {
  const Plan plan = a_request().in_total(1).terminal(Terminals::all).planned();
  EXPECT_EQ(plan.interaction, Interaction::terminal);
  EXPECT_EQ(plan.interactive_rank, Rank{0});
  EXPECT_EQ(plan.prefix_template, "");
  EXPECT_EQ(routes(plan), (Routes{"inherited terminal terminal"}));
}

TEST(Interactive, WorldOfOneThatAsksForMore_IsNot) {
  RequestBuilder redirected = a_request().in_total(1).terminal(Terminals::all);
  redirected.request.redirects.others = Streams::standard_error;
  RequestBuilder prefixed = a_request().in_total(1).terminal(Terminals::all);
  prefixed.request.prefix_template = "${rank}: ";
  for (const RequestBuilder& builder : {redirected, prefixed, a_request().in_total(1).terminal(Terminals::input_only),
                                        a_request().in_total(2).terminal(Terminals::all)}) {
    EXPECT_EQ(builder.planned().interaction, Interaction::none);
    EXPECT_FALSE(builder.planned().interactive_rank.has_value());
  }
}

TEST(Interactive, ChosenRank_GetsTheTerminal) {
  RequestBuilder builder = a_request().in_total(3).terminal(Terminals::all);
  builder.request.interactive_rank = Rank{1};
  const Plan plan = builder.planned();
  EXPECT_EQ(plan.interactive_rank, Rank{1});
  EXPECT_EQ(routes(plan), (Routes{"null console console", "inherited terminal terminal", "null console console"}));
}

TEST(Interactive, ChosenRankWithARedirectedStream_KeepsTheFile) {
  RequestBuilder builder = a_request().in_total(2).terminal(Terminals::all);
  builder.request.interactive_rank = Rank{0};
  builder.request.redirects.others = Streams::standard_error;
  EXPECT_EQ(routes(builder.planned()).front(), "inherited terminal file");
}

TEST(Interactive, ChosenRankOutsideTheWorld_IsRefused) {
  for (const int rank : {-1, 2}) {
    RequestBuilder builder = a_request().in_total(2).terminal(Terminals::all);
    builder.request.interactive_rank = Rank{rank};
    EXPECT_NE(builder.refused().find("there is no such rank in a world of 2 (0 to 1)"), std::string::npos);
  }
}

TEST(Interactive, ChosenRankOfAnotherNode_IsNobodyHere) {
  RequestBuilder builder = a_request().in_total(2).machines(2, 1).terminal(Terminals::all);
  builder.request.interactive_rank = Rank{0};
  EXPECT_EQ(builder.planned().interaction, Interaction::none);
  EXPECT_TRUE(builder.planned().warnings.empty());
}

TEST(Interactive, ChosenRankWithoutTerminals_IsAWarning) {
  RequestBuilder builder = a_request().in_total(2).terminal(Terminals::input_only);
  builder.request.interactive_rank = Rank{0};
  EXPECT_EQ(builder.planned().interaction, Interaction::none);
  EXPECT_TRUE(warns_of(builder.planned(), "--interactive-rank 0 has no effect"));
}

TEST(Prefix, Template_IsTheUsersElseByWorldSize) {
  EXPECT_EQ(a_request().in_total(2).planned().prefix_template, "[${rank}] ");
  EXPECT_EQ(a_request().in_total(1).planned().prefix_template, "");
  EXPECT_EQ(a_request().in_total(2).machines(2, 0).planned().prefix_template, "[${rank}] ");
  RequestBuilder builder = a_request().in_total(2);
  builder.request.prefix_template = "";
  EXPECT_EQ(builder.planned().prefix_template, "");
  builder.request.prefix_template = "${role_name}> ";
  EXPECT_EQ(builder.planned().prefix_template, "${role_name}> ");
}

}  // namespace
}  // namespace forklift
