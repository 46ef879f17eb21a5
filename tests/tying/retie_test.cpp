// Repairs: what is assigned from what after a move, and which absent names of a file are only aliases.
#include <gtest/gtest.h>

#include "tests/tying/model_builder.hpp"

namespace forklift {

inline void PrintTo(const Retie& retie, std::ostream* out) { *out << retie.target << " = " << retie.source; }
inline void PrintTo(const AliasToRestore& alias, std::ostream* out) {
  *out << alias.target << " = " << alias.source
       << (alias.because == AliasToRestore::Because::tied_in_model ? " (tied in model)" : " (noted in file)");
}

namespace {

using Plan = std::vector<Retie>;
using enum AliasToRestore::Because;

TEST(RetiePlan, TiesThatHold_NeedNothing) {
  EXPECT_TRUE(retie_plan(a_model().weight("a").tied("b", "a"), a_moved_model().weight("a").tied("b", "a")).empty());
}

// The groups of Lightning's and accelerate's tests of setting shared parameters again.
TEST(RetiePlan, GroupsOfThePublicTests_AreTiedToTheirFirstName) {
  EXPECT_EQ(retie_plan(a_model().weight("layer_1.weight").tied("layer_3.weight", "layer_1.weight"),
                       a_moved_model().weight("layer_1.weight").weight("layer_3.weight")),
            (Plan{{"layer_3.weight", "layer_1.weight"}}));
  EXPECT_EQ(
      retie_plan(a_model()
                     .weight("layer.weight")
                     .tied("net_a.layer.weight", "layer.weight")
                     .tied("net_b.layer.weight", "layer.weight"),
                 a_moved_model().weight("layer.weight").weight("net_a.layer.weight").weight("net_b.layer.weight")),
      (Plan{{"net_a.layer.weight", "layer.weight"}, {"net_b.layer.weight", "layer.weight"}}));
  EXPECT_EQ(retie_plan(a_model()
                           .weight("linear1")
                           .weight("linear2")
                           .tied("linear3", "linear2")
                           .tied("linear4", "linear1")
                           .tied("linear5", "linear2"),
                       a_moved_model().weight("linear1").weight("linear2").weight("linear3").weight("linear4").weight(
                           "linear5")),
            (Plan{{"linear4", "linear1"}, {"linear3", "linear2"}, {"linear5", "linear2"}}));
}

TEST(RetiePlan, FirstNameOnMeta_TheNextWithDataIsTheSource) {
  EXPECT_EQ(retie_plan(a_model().weight("a").tied("b", "a").tied("c", "a"),
                       a_moved_model().weight("a").weight("b").weight("c").on_meta("a")),
            (Plan{{"a", "b"}, {"c", "b"}}));
}

TEST(RetiePlan, NameThatIsGone_IsLeftAlone) {
  EXPECT_EQ(retie_plan(a_model().weight("a").tied("b", "a").tied("c", "a"), a_moved_model().weight("b").weight("c")),
            (Plan{{"c", "b"}}));
  EXPECT_TRUE(retie_plan(a_model().weight("a").tied("b", "a"), a_moved_model().weight("b")).empty());
}

TEST(RetiePlan, NothingHasData_NothingCanBeDone) {
  EXPECT_TRUE(retie_plan(a_model().weight("a").tied("b", "a"),
                         a_moved_model().weight("a").weight("b").on_meta("a").on_meta("b"))
                  .empty());
}

TEST(RetiePlan, NamesStillTiedToTheSource_AreNotAssigned) {
  EXPECT_EQ(retie_plan(a_model().weight("a").tied("b", "a").tied("c", "a").tied("d", "a"),
                       a_moved_model().weight("a").tied("c", "a").weight("b").tied("d", "b")),
            (Plan{{"b", "a"}, {"d", "a"}}));
}

TEST(AliasesToRestore, WholeFile_IsWithoutWork) {
  const AliasPlan plan = aliases_to_restore({"a", "b"}, {{"a", "b"}}, {{"b", "a"}, {{"format", "pt"}}});
  EXPECT_TRUE(plan.restore.empty() && plan.missing.empty() && plan.unexpected.empty());
}

// "There were missing keys in the checkpoint model loaded: ['lm_head.weight']" is this, and harmless.
TEST(AliasesToRestore, TiedNameAbsent_IsBenign) {
  const AliasPlan plan = aliases_to_restore({"body", "embed.weight", "lm_head.weight"},
                                            {{"embed.weight", "lm_head.weight"}}, {{"body", "embed.weight"}, {}});
  EXPECT_EQ(plan.restore, (std::vector<AliasToRestore>{{"lm_head.weight", "embed.weight", tied_in_model}}));
  EXPECT_TRUE(plan.missing.empty());
}

TEST(AliasesToRestore, FileKeptTheOtherName_IsBenignToo) {
  EXPECT_EQ(aliases_to_restore({"embed.weight", "lm_head.weight"}, {{"embed.weight", "lm_head.weight"}},
                               {{"lm_head.weight"}, {{"embed.weight", "lm_head.weight"}}})
                .restore,
            (std::vector<AliasToRestore>{{"embed.weight", "lm_head.weight", tied_in_model}}));
}

TEST(AliasesToRestore, WholeGroupAbsent_IsMissing) {
  const AliasPlan plan = aliases_to_restore({"body", "embed", "head"}, {{"embed", "head"}}, {{"body"}, {}});
  EXPECT_TRUE(plan.restore.empty());
  EXPECT_EQ(plan.missing, (std::vector<std::string>{"embed", "head"}));
}

TEST(AliasesToRestore, OnlyTheFileKnowsOfTheTie_ItsValuesAreCopied) {
  EXPECT_EQ(aliases_to_restore({"embed", "head"}, {}, {{"embed"}, {{"format", "pt"}, {"head", "embed"}}}).restore,
            (std::vector<AliasToRestore>{{"head", "embed", noted_in_file}}));
}

TEST(AliasesToRestore, NoteOfANameThatTheFileLacks_DoesNotHelp) {
  const AliasPlan plan = aliases_to_restore({"embed", "head"}, {}, {{"embed"}, {{"head", "gone"}}});
  EXPECT_TRUE(plan.restore.empty());
  EXPECT_EQ(plan.missing, std::vector<std::string>{"head"});
}

TEST(AliasesToRestore, NamesTheModelLacks_AreUnexpectedAndNoSource) {
  const AliasPlan plan = aliases_to_restore({"a"}, {{"a", "stranger"}}, {{"stranger"}, {}});
  EXPECT_EQ(plan.unexpected, std::vector<std::string>{"stranger"});
  EXPECT_EQ(plan.missing, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace forklift
