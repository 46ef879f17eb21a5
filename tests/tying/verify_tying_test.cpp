// What a move or a load can do to ties, and the sentence about it.
#include <gtest/gtest.h>

#include "tests/tying/model_builder.hpp"

namespace forklift {
namespace {

using Kind = TyingDifference::Kind;
using Kinds = std::vector<Kind>;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20U;  // Elements; four times as many bytes.

/// A language model with tied embeddings.
std::vector<NamedParameter> tied_model(StorageIdentity first = 1) {
  return a_model(first)
      .weight("embed.weight", 30 * mebi)
      .weight("body.weight", mebi)
      .tied("lm_head.weight", "embed.weight");
}

std::vector<NamedParameter> untied_model() {
  return a_moved_model()
      .weight("embed.weight", 30 * mebi)
      .weight("body.weight", mebi)
      .weight("lm_head.weight", 30 * mebi);
}

TEST(VerifyTying, MovedWithItsTies_IsIntact) {
  const TyingReport report = verify_tying(tied_model(), tied_model(1001));
  EXPECT_TRUE(report.intact()) << sentences_of(report);
  EXPECT_EQ(report.before, report.after);
  EXPECT_EQ(report.before, (ParameterCount{3, 2, 31 * 4 * mebi}));
}

TEST(VerifyTying, MovedApart_SaysWhatItDoesToTraining) {
  const TyingReport report = verify_tying(tied_model(), untied_model());
  EXPECT_FALSE(report.intact());
  EXPECT_EQ(sentences_of(report),
            "embed.weight and lm_head.weight were one tensor and are now 2 independent copies: each gets a gradient of "
            "its own, they drift apart in training, and the weights take 120.0 MiB more.\n");
  EXPECT_EQ(report.before.tensors, 2U);
  EXPECT_EQ(report.after.tensors, 3U);
  EXPECT_EQ(report.after.bytes - report.before.bytes, 120 * mebi);
}

TEST(VerifyTying, PartOfAGroupHolds_SaysWhichNamesStillBelongTogether) {
  const TyingReport report = verify_tying(a_model().weight("a", mebi).tied("b", "a").tied("c", "a"),
                                          a_moved_model().weight("a", mebi).tied("c", "a").weight("b", mebi));
  EXPECT_EQ(
      sentences_of(report),
      "a, b and c were one tensor and are now 2 independent copies (a and c; b): each gets a gradient of its own, "
      "they drift apart in training, and the weights take 4.0 MiB more.\n");
}

TEST(VerifyTying, OneNameLeftOnMeta_HasToBeTiedBeforeTheModelRuns) {
  const TyingReport report = verify_tying(tied_model(), a_moved_model()
                                                            .weight("embed.weight", 30 * mebi)
                                                            .weight("body.weight", mebi)
                                                            .weight("lm_head.weight", 30 * mebi)
                                                            .on_meta("lm_head.weight"));
  EXPECT_EQ(kinds_of(report), Kinds{Kind::untied});
  EXPECT_EQ(
      sentences_of(report),
      "embed.weight and lm_head.weight were one tensor, but lm_head.weight now has no data (meta device) and is no "
      "longer tied to the rest: tie the weights again before the model runs.\n");
}

TEST(VerifyTying, AllDataLost_IsOneSentence) {
  const TyingReport report =
      verify_tying(a_model().weight("a").weight("b"), a_model().weight("a").weight("b").on_meta("a").on_meta("b"));
  EXPECT_EQ(sentences_of(report),
            "a and b had data and now have none (meta device): the model cannot run before they are loaded.\n");
}

TEST(VerifyTying, NewlyTied_SaysThatOneOverwritesTheOther) {
  const TyingReport report = verify_tying(untied_model(), tied_model());
  EXPECT_EQ(kinds_of(report), Kinds{Kind::newly_tied});
  EXPECT_EQ(sentences_of(report),
            "embed.weight and lm_head.weight were 2 independent tensors and are now one: what one of them learns "
            "overwrites the others, and the weights take 120.0 MiB less.\n");
}

TEST(VerifyTying, StorageNotKnownBefore_IsNotCalledNewlyTied) {
  EXPECT_TRUE(verify_tying(
                  a_model().weight("a").weight("b").unknown_storage("a").unknown_storage("b").on_meta("a").on_meta("b"),
                  a_model().weight("a").tied("b", "a"))
                  .intact());
}

TEST(VerifyTying, TieBecomesAView_IsAnOverlapAndNoCopies) {
  const TyingReport report =
      verify_tying(a_model().weight("a", 100).tied("b", "a"), a_model().weight("a", 100).view("b", "a", 0, 50));
  EXPECT_EQ(kinds_of(report), (Kinds{Kind::newly_overlapping, Kind::resized}));
  EXPECT_EQ(sentences_of(report),
            "a and b now share a part of their memory without being one tensor: an update of one overwrites a part of "
            "the others.\n"
            "b had 100 elements and now has 50: it is not the tensor that was moved or loaded.\n");
}

TEST(VerifyTying, ViewBecomesACopy_NoLongerOverlaps) {
  const TyingReport report =
      verify_tying(a_model().weight("a", 100).view("b", "a", 0, 50), a_moved_model().weight("a", 100).weight("b", 50));
  EXPECT_EQ(kinds_of(report), Kinds{Kind::no_longer_overlapping});
  EXPECT_EQ(
      sentences_of(report),
      "a and b shared a part of their memory and no longer do: an update of one no longer reaches the others, and "
      "they drift apart in training.\n");
}

TEST(VerifyTying, NamesComeAndGo_EachSideIsOneSentence) {
  const TyingReport report =
      verify_tying(a_model().weight("a").weight("b").weight("c"), a_model().weight("a").weight("d"));
  EXPECT_EQ(kinds_of(report), (Kinds{Kind::missing, Kind::added}));
  EXPECT_EQ(sentences_of(report),
            "b and c were in the model before and are gone: what was learned there is not used.\n"
            "d was not in the model before: it will start from whatever values it has now.\n");
}

TEST(VerifyTying, OneTiedNameGone_IsMissingAndNotUntied) {
  EXPECT_EQ(kinds_of(verify_tying(a_model().weight("a").tied("b", "a"), a_moved_model().weight("a"))),
            Kinds{Kind::missing});
}

TEST(VerifyTying, Cast_IsNoDifferenceButShowsInTheBytes) {
  const TyingReport report = verify_tying(tied_model(), a_moved_model()
                                                            .weight("embed.weight", 30 * mebi)
                                                            .weight("body.weight", mebi)
                                                            .tied("lm_head.weight", "embed.weight")
                                                            .cast_to_two_bytes());
  EXPECT_TRUE(report.intact()) << sentences_of(report);
  EXPECT_EQ(report.after.bytes * 2, report.before.bytes);
}

TEST(VerifyTying, ManyNames_AreCutShort) {
  ModelBuilder before = a_model().weight("a");
  for (const char* name : {"b", "c", "d", "e"}) before.weight(name);
  EXPECT_EQ(sentences_of(verify_tying(before, a_model().weight("a"))),
            "b, c, d and e were in the model before and are gone: what was learned there is not used.\n");
  before.weight("f");
  EXPECT_EQ(sentences_of(verify_tying(before, a_model().weight("a"))),
            "b, c, d and 2 more were in the model before and are gone: what was learned there is not used.\n");
}

TEST(VerifyOptimizer, HoldsEveryTensorOfTheModel_IsIntact) {
  EXPECT_TRUE(verify_tying(tied_model(), tied_model(1001), {1001, 1002}).intact());
}

TEST(VerifyOptimizer, HoldsFewerThanTheModelHas_IsIntact) {  // Frozen weights.
  EXPECT_TRUE(verify_tying(tied_model(), tied_model(1001), {1002}).intact());
}

TEST(VerifyOptimizer, WasMadeBeforeTheMove_TrainsNothing) {
  const TyingReport report = verify_tying(tied_model(), tied_model(1001), {1, 2});
  EXPECT_EQ(
      sentences_of(report),
      "The optimizer still holds what body.weight, embed.weight and lm_head.weight were before, which the model no "
      "longer uses: its steps there train nothing; make the optimizer after the move.\n");
}

TEST(VerifyOptimizer, HoldsStrangers_SaysHowMany) {
  EXPECT_EQ(sentences_of(verify_tying(tied_model(), tied_model(1001), {1001, 1002, 77})),
            "The optimizer holds 1 tensor that the model neither had before nor has now: its steps there train "
            "nothing.\n");
}

TEST(VerifyOptimizer, HoldsOneOfTwoCopies_SaysWhichStaysAsItIs) {
  const TyingReport report = verify_tying(tied_model(), untied_model(), {1001, 1002});
  EXPECT_EQ(kinds_of(report), (Kinds{Kind::untied, Kind::not_optimized}));
  EXPECT_EQ(
      report.differences[1].sentence,
      "The optimizer trains embed.weight and not lm_head.weight, which was tied to it before: this weight stays as "
      "it is.");
}

}  // namespace
}  // namespace forklift
