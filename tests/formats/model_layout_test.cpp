#include "worker/format/model_layout.hpp"

#include <gtest/gtest.h>

#include "tests/formats/layout_builder.hpp"
#include "worker/format/copy_plan.hpp"
#include "worker/format/storages.hpp"
#include "worker/format/tensor_size.hpp"

namespace forklift {
namespace {

using support::layout_of;
using support::tensor;

TEST(ModelLayout, OverlapAlone_IsNoTie) {
  ModelLayout layout = layout_of({tensor("whole", {4}, 0), tensor("front", {2}, 0), tensor("back", {2}, 8)});
  EXPECT_TRUE(tied_groups(layout).empty());
  EXPECT_EQ(stored_bytes(layout), 16U);
}

TEST(ModelLayout, SameBytesOfOtherShape_AreATie) {
  ModelLayout layout = layout_of({tensor("flat", {6}, 8), tensor("table", {2, 3}, 8), tensor("other", {6}, 8, 1)}, 2);
  EXPECT_EQ(tied_groups(layout), (NameGroups{{"flat", "table"}}));
  layout.tensors[1].strides = {1, 2};
  EXPECT_EQ(tied_groups(layout), (NameGroups{{"flat", "table"}}));
  layout.tensors[1].dtype = Dtype::u8;  // 6 bytes would not be these; as many bytes, but other elements:
  layout.tensors[1].shape = {24};
  EXPECT_TRUE(tied_groups(layout).empty());
}

TEST(ModelLayout, TensorsWithoutBytes_AreNeverTied) {
  EXPECT_TRUE(tied_groups(layout_of({tensor("a", {0}, 0), tensor("b", {0}, 0)})).empty());
}

std::vector<std::vector<std::size_t>> members(const std::vector<ByteRange>& ranges) {
  std::vector<std::vector<std::size_t>> found;
  for (const Storage& storage : find_storages(ranges)) found.push_back(storage.members);
  return found;
}

TEST(Storages, Overlap_ChainsRangesTogether) {
  using Members = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(members({{0, 0, 4, 0}, {0, 4, 8, 0}}), (Members{{0}, {1}})) << "neighbours";
  EXPECT_EQ(members({{0, 0, 4, 0}, {0, 3, 8, 0}}), (Members{{0, 1}})) << "one byte";
  EXPECT_EQ(members({{0, 0, 4, 0}, {1, 0, 4, 0}}), (Members{{0}, {1}})) << "other spaces";
  EXPECT_EQ(members({{0, 6, 9, 0}, {0, 0, 9, 0}, {0, 1, 2, 0}}), (Members{{1, 2, 0}})) << "a short one in between";
  EXPECT_EQ(members({{0, 0, 4, 7}, {0, 4, 8, 7}}), (Members{{0, 1}})) << "neighbours of one storage";
  EXPECT_EQ(members({{0, 0, 4, 7}, {0, 4, 8, 8}}), (Members{{0}, {1}})) << "neighbours of two storages";
  EXPECT_EQ(members({{0, 0, 4, 7}, {0, 5, 8, 7}}), (Members{{0}, {1}})) << "a gap";
  EXPECT_EQ(members({{0, 3, 3, 7}}), (Members{})) << "no bytes";
}

TEST(CopyPlan, Storages_BeginAtCacheLinesAndHeadersAreLeftOut) {
  const ModelLayout layout = layout_of({tensor("a", {3}, 100), tensor("b", {16}, 112), tensor("c", {16}, 176),
                                        tensor("empty", {0}, 240), tensor("d", {2}, 50, 1), tensor("a2", {3}, 100)},
                                       2);
  const auto plan = plan_copy(layout);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().runs, (std::vector<CopyRun>{{0, 100, 0, 12}, {0, 112, 64, 128}, {1, 50, 192, 8}}));
  EXPECT_EQ(plan.value().length, 200U);
  std::vector<std::uint64_t> offsets;
  for (const ModelTensor& one : plan.value().tensors) {
    EXPECT_EQ(one.part, 0U);
    offsets.push_back(one.offset);
  }
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 64, 128, 0, 192, 0}));
}

TEST(CopyPlan, OverlappingTensors_KeepTheirDistanceAndAlignment) {
  const auto plan = plan_copy(layout_of({tensor("whole", {4}, 72), tensor("back", {2}, 80)}));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().tensors[0].offset % 64, 8U);
  EXPECT_EQ(plan.value().tensors[1].offset, plan.value().tensors[0].offset + 8);
}

TEST(CopyPlan, ModelWithoutBytes_NeedsNone) {
  const auto plan = plan_copy(layout_of({tensor("a", {0}, 100)}));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().length, 0U);
  EXPECT_TRUE(plan.value().runs.empty());
}

TEST(TensorSize, Strides_SpanFromFirstToLast) {
  const std::vector<std::uint64_t> shape{3, 4};
  const auto bytes = [&](std::vector<std::uint64_t> strides) { return strided_bytes(Dtype::f32, shape, strides); };
  EXPECT_EQ(bytes({}), 48U);
  EXPECT_EQ(bytes({4, 1}), 48U);
  EXPECT_EQ(bytes({1, 3}), 48U);
  EXPECT_EQ(bytes({8, 1}), (2U * 8 + 3 + 1) * 4);
  EXPECT_EQ(bytes({0, 0}), 4U) << "one element, seen twelve times";
  EXPECT_EQ(bytes({4}), std::nullopt);
  EXPECT_EQ(bytes({std::uint64_t{1} << 63U, 1}), std::nullopt);
  EXPECT_EQ(bytes({std::uint64_t{1} << 61U, 1}), std::nullopt) << "in bytes";
  EXPECT_EQ(strided_bytes(Dtype::f4, shape, {}), 6U);
  EXPECT_EQ(strided_bytes(Dtype::f4, shape, std::vector<std::uint64_t>{4, 1}), std::nullopt);
  EXPECT_EQ(strided_bytes(Dtype::f32, std::vector<std::uint64_t>{0, 4}, std::vector<std::uint64_t>{~0ULL, ~0ULL}), 0U);
}

}  // namespace
}  // namespace forklift
