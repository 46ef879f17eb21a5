#include "launcher/output/byte_queue.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace forklift {
namespace {

TEST(ByteQueue, RandomAppendsAndTakes_KeepTheOrder) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    ByteQueue queue;
    std::string expected;
    for (int i = 0; i < 100; ++i) {
      const std::string bytes(std::uniform_int_distribution<std::size_t>(0, 50)(random),
                              static_cast<char>('a' + i % 26));
      queue.append(bytes);
      expected += bytes;
      const auto taken = std::uniform_int_distribution<std::size_t>(0, expected.size())(random);
      queue.take(taken);
      expected.erase(0, taken);
      ASSERT_EQ(queue.front(), expected) << "seed " << seed;
      ASSERT_EQ(queue.size(), expected.size());
      ASSERT_EQ(queue.empty(), expected.empty());
    }
  }
}

TEST(ByteQueue, Cleared_IsEmpty) {
  ByteQueue queue;
  queue.append("abc");
  queue.take(1);
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.front(), "");
}

}  // namespace
}  // namespace forklift
