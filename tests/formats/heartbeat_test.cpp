#include "worker/format/heartbeat.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace forklift {
namespace {

std::string slot_of(const Heartbeat& beat) {
  const HeartbeatSlot bytes = encode_heartbeat(beat);
  return {bytes.begin(), bytes.end()};
}

TEST(Heartbeat, Slot_ReadsBackExactly) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  for (const Heartbeat beat :
       {Heartbeat{1, 2, 3}, Heartbeat{0, 0, 0}, Heartbeat{highest, lowest, std::numeric_limits<std::int32_t>::max()},
        Heartbeat{lowest, -1, 0}}) {
    EXPECT_EQ(decode_heartbeat(slot_of(beat)), beat);
  }
}

TEST(Heartbeat, NeverWritten_IsNone) { EXPECT_EQ(decode_heartbeat(std::string(heartbeat_bytes, '\0')), std::nullopt); }

TEST(Heartbeat, WrongLength_IsNone) {
  const std::string slot = slot_of({1, 2, 3});
  for (std::size_t length = 0; length < slot.size(); ++length) {
    EXPECT_EQ(decode_heartbeat(std::string_view(slot).substr(0, length)), std::nullopt) << length;
  }
  EXPECT_EQ(decode_heartbeat(slot + '\0'), std::nullopt);
}

TEST(Heartbeat, AnyBitFlipped_IsNone) {
  const std::string slot = slot_of({1'000'000'007, 120, 1});
  for (std::size_t bit = 0; bit < slot.size() * 8; ++bit) {
    std::string flipped = slot;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(decode_heartbeat(flipped), std::nullopt) << "bit " << bit;
  }
}

// A reader that comes in the middle of a write sees the first words of the new slot and the last ones of the old.
TEST(Heartbeat, TornSlot_IsNone) {
  const std::string before = slot_of({1'000'000'007, 120, 1});
  const std::string after = slot_of({2'000'000'014, 121, 1});
  for (std::size_t at = 8; at < heartbeat_bytes; at += 8) {
    EXPECT_EQ(decode_heartbeat(after.substr(0, at) + before.substr(at)), std::nullopt) << at;
  }
}

TEST(Heartbeat, AttemptThatCannotBe_IsNone) { EXPECT_EQ(decode_heartbeat(slot_of({1, 2, -1})), std::nullopt); }

TEST(HeartbeatFile, SlotsStandByRank) {
  EXPECT_EQ(heartbeat_file("/runs/x"), "/runs/x/heartbeats");
  EXPECT_EQ(heartbeat_offset(Rank{0}), 0);
  EXPECT_EQ(heartbeat_offset(Rank{1}), 32);
  EXPECT_EQ(heartbeat_offset(Rank{std::numeric_limits<int>::max()}), 32LL * std::numeric_limits<int>::max());
}

TEST(HeartbeatFile, BeatOfARank_IsFoundInItsAttemptOnly) {
  const std::string file = slot_of({10, 1, 0}) + std::string(heartbeat_bytes, '\0') + slot_of({30, 3, 1});
  EXPECT_EQ(heartbeat_of(file, Rank{0}, Attempt{0}), (Heartbeat{10, 1, 0}));
  EXPECT_EQ(heartbeat_of(file, Rank{0}, Attempt{1}), std::nullopt) << "an earlier attempt's";
  EXPECT_EQ(heartbeat_of(file, Rank{1}, Attempt{0}), std::nullopt) << "a hole";
  EXPECT_EQ(heartbeat_of(file, Rank{2}, Attempt{1}), (Heartbeat{30, 3, 1}));
  EXPECT_EQ(heartbeat_of(file, Rank{3}, Attempt{1}), std::nullopt) << "beyond its end";
  EXPECT_EQ(heartbeat_of(file, template_rank, Attempt{0}), std::nullopt);
  EXPECT_EQ(heartbeat_of(file.substr(0, file.size() - 1), Rank{2}, Attempt{1}), std::nullopt) << "cut";
  EXPECT_EQ(heartbeat_of("", Rank{0}, Attempt{0}), std::nullopt);
}

}  // namespace
}  // namespace forklift
