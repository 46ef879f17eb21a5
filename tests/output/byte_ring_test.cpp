#include "launcher/output/byte_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace forklift {
namespace {

TEST(ByteRing, Empty_HasNothing) {
  const ByteRing ring(8);
  EXPECT_EQ(ring.size(), 0U);
  EXPECT_EQ(ring.last(5), "");
}

TEST(ByteRing, RandomAppends_KeepTheEndOfAll) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto limit = std::uniform_int_distribution<std::size_t>(1, 20)(random);
    ByteRing ring(limit);
    std::string all;
    for (int i = 0; i < 40; ++i) {
      std::string bytes(std::uniform_int_distribution<std::size_t>(0, 30)(random), ' ');
      for (char& byte : bytes) byte = static_cast<char>(std::uniform_int_distribution('a', 'z')(random));
      ring.append(bytes);
      all += bytes;
      const std::size_t size = std::min(limit, all.size());
      ASSERT_EQ(ring.size(), size) << "seed " << seed;
      ASSERT_EQ(ring.last(limit + 1), all.substr(all.size() - size)) << "seed " << seed;
      const std::size_t part = size / 2;
      ASSERT_EQ(ring.last(part), all.substr(all.size() - part)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace forklift
