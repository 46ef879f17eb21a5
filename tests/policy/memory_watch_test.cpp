// Samples of young replicas → whether to warn, and when to stop looking.
#include "launcher/policy/memory_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/policy/dice.hpp"

namespace forklift::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;

MemorySample sample_at(Instant at, std::vector<std::uint64_t> held, std::uint64_t available) {
  const int running = static_cast<int>(held.size());
  return {at, std::move(held), running, available};
}

/// Replicas that load `copy` bytes each at `rate` bytes a second, after `delay`, on a machine with `memory` for them.
/// Until then each grows to `imports`, as Python does while it imports.
struct Load {
  int replicas = 4;
  std::uint64_t copy = 0;
  std::uint64_t rate = gibibyte;
  milliseconds delay{0};
  std::uint64_t imports = 0;
  std::uint64_t memory = 0;

  [[nodiscard]] std::uint64_t held_at(Instant at) const {
    if (at < delay)
      return imports * static_cast<std::uint64_t>(at.count()) / static_cast<std::uint64_t>(Instant(delay).count());
    const double passed = std::chrono::duration<double>(at - delay).count();
    return imports + std::min(copy, static_cast<std::uint64_t>(passed * static_cast<double>(rate)));
  }
  [[nodiscard]] std::uint64_t together_at(Instant at) const {
    return held_at(at) * static_cast<std::uint64_t>(replicas);
  }
  [[nodiscard]] MemorySample sample(Instant at) const {
    return sample_at(at, std::vector<std::uint64_t>(static_cast<std::size_t>(replicas), held_at(at)),
                     memory - std::min(memory, together_at(at)));
  }
};

struct Watched {
  std::optional<Instant> warned_at;
  std::optional<MemoryThreat> threat;
  int looks = 0;
};

/// Looks as the loop does, until the watch ends.
Watched watched(const Load& load) {
  Watched seen;
  MemoryWatch watch;
  while (const auto at = watch.next_look()) {
    ++seen.looks;
    if (const auto threat = watch.take(load.sample(*at))) {
      EXPECT_FALSE(seen.warned_at) << "a second warning";
      seen.warned_at = *at;
      seen.threat = threat;
    }
  }
  return seen;
}

TEST(MemoryWatch, IdleReplicas_AreLookedAtTwice) {
  const Watched seen = watched({.copy = 2 * mebibyte, .rate = gibibyte, .memory = 8 * gibibyte});
  EXPECT_FALSE(seen.warned_at);
  EXPECT_EQ(seen.looks, 3);  // They grew until the first look.
  EXPECT_EQ(watched({.copy = mebibyte / 2, .memory = 8 * gibibyte}).looks, 2);
}

TEST(MemoryWatch, ReplicasThatGrowAllTheTime_AreLookedAtSixTimesAndNeverAfterTenSeconds) {
  const Watched seen = watched({.copy = 100 * gibibyte, .rate = 10 * mebibyte, .memory = 500 * gibibyte});
  EXPECT_FALSE(seen.warned_at);
  EXPECT_EQ(seen.looks, 6);
  EXPECT_EQ(MemoryWatch::times.back(), seconds(10));
}

TEST(MemoryWatch, CopiesThatFit_AreNotWarnedOf) {
  EXPECT_FALSE(watched({.copy = 8 * gibibyte, .rate = gibibyte, .memory = 60 * gibibyte}).warned_at);
  EXPECT_FALSE(watched({.copy = 2 * gibibyte, .rate = gibibyte, .memory = 20 * gibibyte}).warned_at);
  EXPECT_FALSE(watched({.copy = gibibyte,
                        .rate = 4 * gibibyte,
                        .delay = seconds(1),
                        .imports = 90 * mebibyte,
                        .memory = 8 * gibibyte})
                   .warned_at);
}

TEST(MemoryWatch, CopiesThatDoNotFit_AreWarnedOfBeforeTheEnd) {
  const Load table[] = {
      {.replicas = 4, .copy = 13 * gibibyte, .rate = gibibyte, .memory = 24 * gibibyte},
      {.replicas = 8,
       .copy = 13 * gibibyte,
       .rate = 2 * gibibyte,
       .delay = seconds(2),
       .imports = 200 * mebibyte,
       .memory = 60 * gibibyte},
      {.replicas = 2,
       .copy = 10 * gibibyte,
       .rate = gibibyte,
       .delay = seconds(1),
       .imports = 90 * mebibyte,
       .memory = 12 * gibibyte},
      {.replicas = 64, .copy = 2 * gibibyte, .rate = gibibyte / 4, .delay = milliseconds(500), .memory = 60 * gibibyte},
      {.replicas = 2, .copy = 400 * mebibyte, .rate = 400 * mebibyte, .memory = 700 * mebibyte},
  };
  for (const Load& load : table) {
    const Watched seen = watched(load);
    ASSERT_TRUE(seen.warned_at) << load.replicas << " replicas of " << load.copy / mebibyte << " MiB";
    EXPECT_LT(load.together_at(*seen.warned_at), load.memory);
    EXPECT_EQ(seen.threat->replicas, load.replicas);
    EXPECT_EQ(seen.threat->together, load.together_at(*seen.warned_at));
    EXPECT_EQ(seen.threat->available, load.memory - seen.threat->together);
  }
}

TEST(MemoryWatch, SlowLoad_IsJudgedAtTheLastLookByTheNextTenSeconds) {
  // 0.5 GiB a second together: after 10 s 5 GiB are held; 4 left last for 8 s, and 6 for 12 s.
  const auto load = [](std::uint64_t memory) {
    return Load{.replicas = 4, .copy = 13 * gibibyte, .rate = gibibyte / 8, .memory = memory};
  };
  EXPECT_EQ(watched(load(9 * gibibyte)).warned_at, milliseconds(10'250));
  EXPECT_FALSE(watched(load(11 * gibibyte)).warned_at);
}

TEST(MemoryWatch, FullButNotGrowing_IsNoThreat) {
  MemoryWatch watch;
  watch.take(sample_at(milliseconds(500), {4 * gibibyte, 4 * gibibyte}, gibibyte));
  EXPECT_FALSE(watch.threat_in(sample_at(seconds(1), {4 * gibibyte, 4 * gibibyte}, mebibyte)));
  EXPECT_FALSE(watch.threat_in(sample_at(seconds(1), {3 * gibibyte, 3 * gibibyte}, mebibyte)));
}

TEST(MemoryWatch, OneLargeAmongSmallOnes_IsNotNCopies) {
  const MemoryWatch watch;
  EXPECT_FALSE(watch.threat_in(sample_at(milliseconds(500), {4 * gibibyte, gibibyte, gibibyte}, gibibyte)));
  EXPECT_TRUE(watch.threat_in(sample_at(milliseconds(500), {4 * gibibyte, 2 * gibibyte, 3 * gibibyte}, gibibyte)));
}

TEST(MemoryWatch, MemoryEatenBySomebodyElse_IsNotTheReplicasFault) {
  const MemoryWatch watch;
  EXPECT_FALSE(watch.threat_in(sample_at(milliseconds(500), {200 * mebibyte, 200 * mebibyte}, 801 * mebibyte)));
  EXPECT_TRUE(watch.threat_in(sample_at(milliseconds(500), {200 * mebibyte, 200 * mebibyte}, 500 * mebibyte)));
}

TEST(MemoryWatch, SmallReplicas_AreNotWorthALook) {
  EXPECT_FALSE(MemoryWatch::worth_a_look({}));
  EXPECT_FALSE(MemoryWatch::worth_a_look({127 * mebibyte, 1}));
  EXPECT_TRUE(MemoryWatch::worth_a_look({1, 128 * mebibyte}));
  EXPECT_FALSE(MemoryWatch().threat_in(sample_at(seconds(1), {100 * mebibyte, 100 * mebibyte}, 1)));
}

TEST(MemoryWatch, ReplicasNotLookedAt_CountAsAverage) {
  const MemorySample sample{milliseconds(500), {gibibyte, gibibyte}, 128, 64 * gibibyte};
  const auto threat = MemoryWatch().threat_in(sample);
  ASSERT_TRUE(threat);
  EXPECT_EQ(threat->together, 128 * gibibyte);
  EXPECT_EQ(threat->replicas, 128);
  EXPECT_EQ(threat->growth_per_second, 256 * gibibyte);
}

TEST(MemoryWatch, OneReplicaLeft_EndsTheLooks) {
  MemoryWatch watch;
  EXPECT_FALSE(watch.threat_in(sample_at(milliseconds(500), {4 * gibibyte}, mebibyte)));
  watch.take(sample_at(milliseconds(500), {4 * gibibyte}, mebibyte));
  EXPECT_FALSE(watch.next_look());
}

TEST(MemoryWatch, GrowthAfterAQuietLook_IsSeen) {
  MemoryWatch watch;
  watch.take(sample_at(milliseconds(500), {0, 0}, gibibyte));
  EXPECT_EQ(watch.next_look(), seconds(1));
  watch.take(sample_at(seconds(1), {10 * mebibyte, 10 * mebibyte}, gibibyte));
  watch.take(sample_at(seconds(2), {10 * mebibyte, 10 * mebibyte}, gibibyte));
  EXPECT_EQ(watch.next_look(), seconds(4));
}

TEST(MemoryWatch, TwoSamplesOfOneInstant_AreNoGrowth) {
  MemoryWatch watch;
  watch.take(sample_at(seconds(1), {gibibyte, gibibyte}, gibibyte));
  EXPECT_FALSE(watch.threat_in(sample_at(seconds(1), {2 * gibibyte, 2 * gibibyte}, 1)));
}

TEST(MemoryWatch, ThreatThatIsGoneAMomentLater_IsNotWarnedOf) {
  MemoryWatch watch;
  EXPECT_FALSE(watch.take(sample_at(milliseconds(510), {2 * gibibyte, 2 * gibibyte}, gibibyte)));
  EXPECT_EQ(watch.next_look(), milliseconds(760));
  EXPECT_FALSE(watch.take(sample_at(milliseconds(770), {2 * gibibyte, 2 * gibibyte}, gibibyte)));
  EXPECT_EQ(watch.next_look(), seconds(1));
}

TEST(MemoryWatch, ThreatThatGoesOn_IsWarnedOfWithTheLatestPace) {
  MemoryWatch watch;
  EXPECT_FALSE(watch.take(sample_at(milliseconds(500), {2 * gibibyte, 2 * gibibyte}, 2 * gibibyte)));
  const auto threat = watch.take(sample_at(milliseconds(750), {gibibyte * 5 / 2, gibibyte * 5 / 2}, gibibyte));
  ASSERT_TRUE(threat);
  EXPECT_EQ(threat->growth_per_second, 4 * gibibyte);
  EXPECT_FALSE(watch.next_look());
}

TEST(MemoryWatch, LateLoop_SkipsTheLooksItMissed) {
  MemoryWatch watch;
  watch.take(sample_at(milliseconds(4500), {100 * mebibyte, 100 * mebibyte}, gibibyte));
  EXPECT_EQ(watch.next_look(), seconds(7));
}

// Any course of samples: few looks, at most one warning, and a warning only where its own numbers bear it out.
TEST(MemoryWatch, RandomCourses_KeepThePromises) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    MemoryWatch watch;
    int looks = 0;
    while (const auto at = watch.next_look()) {
      ASSERT_LE(++looks, 12) << "seed " << seed;
      ASSERT_LE(*at, milliseconds(10'650)) << "seed " << seed;
      MemorySample sample;
      sample.at = *at + dice.up_to(milliseconds(400));
      for (int i = 1 + dice.below(6); i > 0; --i) {
        sample.held.push_back(static_cast<std::uint64_t>(dice.below(4096)) * mebibyte);
      }
      sample.running = static_cast<int>(sample.held.size()) + dice.below(3);
      sample.available = static_cast<std::uint64_t>(dice.below(8192)) * mebibyte;
      const auto threat = watch.take(sample);
      if (!threat) continue;
      ASSERT_FALSE(watch.next_look()) << "seed " << seed;
      ASSERT_GE(threat->replicas, 2) << "seed " << seed;
      ASSERT_GE(threat->smallest, threat->largest / 2) << "seed " << seed;
      ASSERT_GT(threat->growth_per_second, 0U) << "seed " << seed;
      ASSERT_LE(threat->available / threat->growth_per_second, 10U) << "seed " << seed;
      ASSERT_EQ(threat->available, sample.available) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace forklift::policy
