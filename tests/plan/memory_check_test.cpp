// What can be said before the start about memory that will not be enough.
#include "launcher/plan/memory_check.hpp"

#include <gtest/gtest.h>

#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;

/// A job of `replicas` on a machine with 60 GiB available.
RequestBuilder a_job(int replicas, std::optional<ExpectedMemory> expected, MemoryCheck check = MemoryCheck::warn) {
  RequestBuilder builder = a_request().in_total(replicas);
  builder.host.memory_available_bytes = 60 * gibibyte;
  builder.request.memory = {check, expected};
  return builder;
}

/// The warning about memory; empty if there is none.
std::string warning_of(const RequestBuilder& job) {
  for (const std::string& warning : job.planned().warnings) {
    if (warning.find("GiB") != std::string::npos) return warning;
  }
  return {};
}

TEST(MemoryCheck, CopiesThatCannotFit_AreWarnedOfWithTheRemedy) {
  EXPECT_EQ(warning_of(a_job(8, ExpectedMemory{0, 13 * gibibyte})),
            "8 replicas with 13.0 GiB each need 104.0 GiB, and 60.0 GiB can be used on this machine: there is room for "
            "4 replicas; hold it once instead of 8 times (--model PATH, or load it before the fork point), or start "
            "fewer replicas");
}

TEST(MemoryCheck, SharedModel_CountsOnce) {
  EXPECT_EQ(warning_of(a_job(8, ExpectedMemory{13 * gibibyte, 0})), "");
  EXPECT_EQ(warning_of(a_job(8, ExpectedMemory{28 * gibibyte, 4 * gibibyte})), "");  // 60, to the byte.
  EXPECT_EQ(warning_of(a_job(8, ExpectedMemory{28 * gibibyte, 4 * gibibyte + 1})),
            "the shared model (28.0 GiB) and 8 replicas with 4.0 GiB each need 60.0 GiB, and 60.0 GiB can be used on "
            "this machine: there is room for 7 replicas");
}

TEST(MemoryCheck, NotEvenOne_SaysSo) {
  EXPECT_EQ(warning_of(a_job(2, ExpectedMemory{0, 70 * gibibyte})),
            "2 replicas with 70.0 GiB each need 140.0 GiB, and 60.0 GiB can be used on this machine: not even one "
            "replica has room: use a machine with more memory, or a smaller type");
  EXPECT_EQ(warning_of(a_job(2, ExpectedMemory{70 * gibibyte, 0})),
            "the shared model needs 70.0 GiB, and 60.0 GiB can be used on this machine: not even one replica has room: "
            "use a machine with more memory, or a smaller type");
  EXPECT_EQ(warning_of(a_job(1, ExpectedMemory{0, 70 * gibibyte})),
            "1 replica with 70.0 GiB needs 70.0 GiB, and 60.0 GiB can be used on this machine: not even one replica "
            "has room: use a machine with more memory, or a smaller type");
}

TEST(MemoryCheck, Refuse_IsAUsageErrorBeforeAnythingStarts) {
  const auto refused = a_job(8, ExpectedMemory{0, 13 * gibibyte}, MemoryCheck::refuse).plan();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_TRUE(refused.error().message.starts_with(
      "--memory-check refuse: 8 replicas with 13.0 GiB each need 104.0 GiB, and 60.0 GiB can be used"))
      << refused.error().message;
  EXPECT_TRUE(a_job(4, ExpectedMemory{0, 13 * gibibyte}, MemoryCheck::refuse).plan());
}

TEST(MemoryCheck, OffOrUnknown_SaysNothing) {
  EXPECT_EQ(warning_of(a_job(8, ExpectedMemory{0, 13 * gibibyte}, MemoryCheck::off)), "");
  EXPECT_EQ(warning_of(a_job(8, std::nullopt, MemoryCheck::refuse)), "");
  RequestBuilder blind = a_job(8, ExpectedMemory{0, 13 * gibibyte}, MemoryCheck::refuse);
  blind.host.memory_available_bytes = 0;
  EXPECT_TRUE(blind.plan());
}

TEST(MemoryCheck, LimitOfTheControlGroup_CountsWhereItIsTighter) {
  RequestBuilder job = a_job(2, ExpectedMemory{0, 4 * gibibyte});
  job.host.memory_limit_bytes = 8 * gibibyte;
  job.host.memory_limit_room_bytes = 7 * gibibyte;
  EXPECT_EQ(warning_of(job).find("2 replicas with 4.0 GiB each need 8.0 GiB, and 7.0 GiB can be used"), 0U);
}

TEST(MemoryCheck, SeveralMachines_OnlyOwnReplicasCount) {
  RequestBuilder job = a_job(8, ExpectedMemory{0, 13 * gibibyte});
  job.machines(2, 0);
  EXPECT_EQ(warning_of(job), "");  // 4 here: 52 GiB.
}

TEST(MemoryCheck, EndlessNeed_DoesNotWrapAround) {
  EXPECT_NE(warning_of(a_job(1000, ExpectedMemory{~std::uint64_t{0} / 2, ~std::uint64_t{0} / 2})), "");
}

TEST(MemoryCheck, Rules_ReachThePlan) {
  const Plan plan = a_job(2, ExpectedMemory{1, 2}, MemoryCheck::off).planned();
  EXPECT_EQ(plan.memory.check, MemoryCheck::off);
  ASSERT_TRUE(plan.memory.expected);
  EXPECT_EQ(plan.memory.expected->shared_bytes, 1U);
}

}  // namespace
}  // namespace forklift
