#include "launcher/diagnose/memory_words.hpp"

#include <gtest/gtest.h>

#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::gibibyte;
using testing::mebibyte;

TEST(MemoryWords, GrowingCopies_NameTheNumbersAndTheRemedy) {
  EXPECT_EQ(
      growing_copies_sentence({4, 2150 * mebibyte, 2160 * mebibyte, 8620 * mebibyte, 4 * gibibyte, 1331 * mebibyte}),
      "4 replicas hold 2.1 GiB each, 8.4 GiB together, and grow by 1.3 GiB a second: the 4.0 GiB that are left last "
      "for about 3 s. If each loads its own copy of the model, hold it once instead of 4 times (--model PATH, or "
      "load it before the fork point), or start fewer replicas.");
}

TEST(MemoryWords, UnequalReplicas_AreARange) {
  EXPECT_EQ(each_of(gibibyte, 2 * gibibyte), "1.0 GiB to 2.0 GiB each");
  EXPECT_EQ(each_of(gibibyte, gibibyte + 1), "1.0 GiB each");
}

TEST(MemoryWords, NoGrowthAtAll_DoesNotDivideByIt) {
  EXPECT_NE(growing_copies_sentence({2, 1, 1, 2, 0, 0}).find("last for about 1 s"), std::string::npos);
}

}  // namespace
}  // namespace forklift
