// Tensors → size, and what a machine has for it.
#include "launcher/estimate/model_size.hpp"

#include <gtest/gtest.h>

#include "launcher/estimate/memory_room.hpp"

namespace forklift {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;

// The small model of accelerate's own tests (test_modeling_utils.py, compute_module_sizes): linear1 64 bytes, batchnorm
// 72, linear2 100, 236 together.
TEST(ModelSize, SmallModelOfAcceleratesTests_HasTheSizesExpectedThere) {
  const ModelSize size = model_size_of({{"linear1.weight", "F32", 12, 48},
                                        {"linear1.bias", "F32", 4, 16},
                                        {"batchnorm.weight", "F32", 4, 16},
                                        {"batchnorm.bias", "F32", 4, 16},
                                        {"batchnorm.running_mean", "F32", 4, 16},
                                        {"batchnorm.running_var", "F32", 4, 16},
                                        {"batchnorm.num_batches_tracked", "I64", 1, 8},
                                        {"linear2.weight", "F32", 20, 80},
                                        {"linear2.bias", "F32", 5, 20}});
  EXPECT_EQ(size.bytes, 236U);
  EXPECT_EQ(size.float32_bytes, 236U);
  EXPECT_EQ(size.elements, 58U);
  EXPECT_EQ(size.tensors, 9U);
  ASSERT_TRUE(size.largest_layer);
  EXPECT_EQ(size.largest_layer->name, "linear2");
  EXPECT_EQ(size.largest_layer->float32_bytes, 100U);
  EXPECT_EQ(size.bytes_by_dtype, (std::map<std::string, std::uint64_t>{{"F32", 228}, {"I64", 8}}));
}

TEST(ModelSize, HalfPrecision_CountsInFloat32ForTheEstimate) {
  const ModelSize size =
      model_size_of({{"a.weight", "BF16", 10, 20}, {"a.steps", "I64", 1, 8}, {"b.weight", "F8_E4M3", 8, 8}});
  EXPECT_EQ(size.bytes, 36U);
  EXPECT_EQ(size.float32_bytes, 40U + 8U + 32U);
  EXPECT_EQ(size.largest_layer->name, "a");
  EXPECT_EQ(size.largest_layer->float32_bytes, 48U);
}

TEST(ModelSize, TensorsWithoutAModule_AreALayerTogether) {
  const ModelSize size = model_size_of({{"scale", "F32", 2, 8}, {"shift", "F32", 2, 8}, {"a.b.weight", "F32", 3, 12}});
  EXPECT_EQ(size.largest_layer->name, "");
  EXPECT_EQ(size.largest_layer->float32_bytes, 16U);
}

TEST(ModelSize, NoTensors_HaveNoLayer) {
  EXPECT_FALSE(model_size_of(std::vector<TensorSize>{}).largest_layer);
  EXPECT_EQ(model_size_of(std::vector<TensorSize>{}).bytes, 0U);
}

TEST(ModelSize, OnlyBytes_AreOfTheGivenType) {
  EXPECT_EQ(model_size_of(400, "float32").float32_bytes, 400U);
  EXPECT_EQ(model_size_of(400, "float16").float32_bytes, 800U);
  EXPECT_EQ(model_size_of(400, "bfloat16").elements, 200U);
  EXPECT_EQ(model_size_of(403, "float32").float32_bytes, 403U);  // No rounding of what is known.
  EXPECT_EQ(model_size_of(400, "bfloat16").bytes_by_dtype, (std::map<std::string, std::uint64_t>{{"BF16", 400}}));
}

TEST(ModelSize, SumsThatDoNotFit_Saturate) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(model_size_of({{"a", "F32", most, most}, {"b", "F32", most, most}}).float32_bytes, most);
  EXPECT_EQ(times(most, 2), most);
  EXPECT_EQ(times(most, 0), 0U);
}

struct RoomRow {
  std::uint64_t available;
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> left;
  std::optional<std::uint64_t> room;
  MemoryRoom::Bound bound;
};

TEST(MemoryRoom, IsTheSmallerOfMachineAndControlGroup) {
  using enum MemoryRoom::Bound;
  const RoomRow table[] = {
      {60 * gibibyte, {}, {}, 60 * gibibyte, machine},
      {60 * gibibyte, 8 * gibibyte, 6 * gibibyte, 6 * gibibyte, control_group},
      {60 * gibibyte, 8 * gibibyte, 0, 0, control_group},
      {4 * gibibyte, 8 * gibibyte, 6 * gibibyte, 4 * gibibyte, machine},
      {60 * gibibyte, 8 * gibibyte, {}, 8 * gibibyte, control_group},  // Facts of an older version.
      {0, 8 * gibibyte, {}, 8 * gibibyte, control_group},
      {0, {}, {}, {}, machine},
  };
  for (const RoomRow& row : table) {
    HostFacts facts;
    facts.memory_available_bytes = row.available;
    facts.memory_limit_bytes = row.limit;
    facts.memory_limit_room_bytes = row.left;
    const auto room = memory_room(facts);
    ASSERT_EQ(room.has_value(), row.room.has_value());
    if (!room) continue;
    EXPECT_EQ(room->bytes, *row.room);
    EXPECT_EQ(room->bound, row.bound);
  }
}

}  // namespace
}  // namespace forklift
