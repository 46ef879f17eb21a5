#include "worker/format/source_layout.hpp"

#include <gtest/gtest.h>

namespace forklift {
namespace {

/// An address that is only counted with.
const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

SourceTensor source(std::string name, std::vector<std::uint64_t> shape, std::vector<std::int64_t> strides,
                    std::uintptr_t address = 0x10000) {
  SourceTensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.strides = std::move(strides);
  tensor.data = at(address);
  return tensor;
}

SourceLayout laid_out(std::vector<SourceTensor> tensors) {
  std::vector<CheckedTensor> checked;
  for (SourceTensor& tensor : tensors) checked.push_back(check_source(std::move(tensor)).value());
  return lay_out(checked).value();
}

TEST(SourceTensor, WhatCannotBeShared_IsRefusedWithTheReason) {
  SourceTensor null = source("n", {2}, {});
  null.data = nullptr;
  SourceTensor packed_bits = source("n", {2, 2}, {2, 1});
  packed_bits.dtype = Dtype::f4;
  SourceTensor odd_bytes = source("n", {2}, {6});
  odd_bytes.stride_unit = SourceTensor::StrideUnit::bytes;
  SourceTensor name = source("\xff", {2}, {});
  const struct {
    SourceTensor tensor;
    const char* message;
  } table[] = {
      {null, "tensor 'n' cannot be shared: its data is a null pointer"},
      {source("n", {3}, {-1}),
       "tensor 'n' cannot be shared: dimension 0 runs backwards (stride -1); pass a copy in order"},
      {source("n", {3}, {1, 1}), "tensor 'n' cannot be shared: it has 2 strides for 1 dimensions"},
      {source("n", {1ULL << 63U, 4}, {}),
       "tensor 'n' cannot be shared: the number of elements of shape [9223372036854775808, 4] is beyond 2^64"},
      {source("n", {1ULL << 61U}, {}),
       "tensor 'n' cannot be shared: the bits of F32 [2305843009213693952] are beyond 2^64"},
      {source("n", {2, 2}, {INT64_MAX, 1}),
       "tensor 'n' cannot be shared: shape [2, 2] with its strides reaches beyond 2^64"},
      {source("n", {4}, {}, ~std::uintptr_t{0} - 8),
       "tensor 'n' cannot be shared: shape [4] with its strides reaches beyond 2^64"},
      {packed_bits, "tensor 'n' cannot be shared: F4 has no strides in whole bytes"},
      {odd_bytes,
       "tensor 'n' cannot be shared: dimension 0 has a stride of 6 bytes, which is no multiple of the 4 of an element"},
      {name, "tensor '\\xff' cannot be shared: its name is not in UTF-8"},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.message);
    const auto checked = check_source(row.tensor);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().message, row.message);
    EXPECT_EQ(checked.error().kind, ErrorKind::usage);
  }
}

TEST(SourceTensor, EmptyOne_NeedsNoMemory) {
  SourceTensor empty = source("e", {0, 3}, {-7, 1});
  empty.data = nullptr;
  const auto checked = check_source(empty);
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(checked.value().bytes, 0U);
}

TEST(SourceTensor, RowMajorStrides_AreNone) {
  SourceTensor in_bytes = source("n", {3, 1, 4}, {16, -99, 4});
  in_bytes.stride_unit = SourceTensor::StrideUnit::bytes;
  EXPECT_TRUE(check_source(in_bytes).value().strides.empty()) << "a dimension of one is never stepped along";
  EXPECT_TRUE(check_source(source("n", {3, 4}, {4, 1})).value().strides.empty());
  EXPECT_EQ(check_source(source("n", {3, 4}, {1, 3})).value().strides, (std::vector<std::uint64_t>{1, 3}));
}

TEST(SourceLayout, TiedTensors_AreOneStorage) {
  const SourceLayout layout = laid_out({source("embedding", {4, 8}, {}), source("other", {8}, {}, 0x20000),
                                        source("head", {4, 8}, {}), source("turned", {8, 4}, {1, 8})});
  ASSERT_EQ(layout.runs.size(), 2U);
  EXPECT_EQ(layout.length, 128U + 32);
  EXPECT_EQ(layout.tensors[0].offset, layout.tensors[2].offset);
  EXPECT_EQ(layout.tensors[0].offset, layout.tensors[3].offset);
  EXPECT_EQ(layout.tensors[3].strides, (std::vector<std::uint64_t>{1, 8})) << "a transposed view stays one";
  EXPECT_EQ(layout.tensors[1].offset, 128U);
  EXPECT_TRUE(layout.notes.empty());
}

TEST(SourceLayout, OverlappingViews_KeepTheirDistances) {
  const SourceLayout layout = laid_out({source("rows", {2, 4}, {}, 0x10010), source("whole", {4, 4}, {}, 0x10000)});
  ASSERT_EQ(layout.runs.size(), 1U);
  EXPECT_EQ(layout.runs[0].length, 64U);
  EXPECT_EQ(layout.tensors[0].offset, layout.tensors[1].offset + 16);
}

TEST(SourceLayout, NeighboursOfOneStorage_StayNeighbours) {
  const auto flat = [](std::uint64_t storage) {
    SourceTensor first = source("w", {3}, {}, 0x10004);
    SourceTensor second = source("b", {2}, {}, 0x10010);
    first.storage = second.storage = storage;
    return laid_out({first, second});
  };
  EXPECT_EQ(flat(9).runs.size(), 1U);
  EXPECT_EQ(flat(9).tensors[1].offset, flat(9).tensors[0].offset + 12);
  EXPECT_EQ(flat(9).tensors[0].offset % 64, 4U) << "the alignment of the source";
  EXPECT_EQ(flat(0).runs.size(), 2U);
  EXPECT_EQ(flat(0).tensors[0].offset % 64, 0U);
}

TEST(SourceLayout, LoneTensorWithHoles_IsPackedAndSaid) {
  const SourceLayout layout = laid_out({source("column", {100}, {50})});
  ASSERT_EQ(layout.runs.size(), 1U);
  EXPECT_EQ(layout.runs[0].packed, 0U);
  EXPECT_EQ(layout.length, 400U);
  EXPECT_TRUE(layout.tensors[0].strides.empty());
  EXPECT_EQ(layout.tensors[0].bytes, 400U);
  EXPECT_EQ(layout.notes,
            (std::vector<std::string>{"tensor 'column' was packed: 400 bytes of the 19804 that it spans are its own"}));
}

TEST(SourceLayout, HolesThatOthersUse_Stay) {
  const SourceLayout layout = laid_out({source("column", {4}, {4}), source("whole", {4, 4}, {})});
  ASSERT_EQ(layout.runs.size(), 1U);
  EXPECT_FALSE(layout.runs[0].packed);
  EXPECT_EQ(layout.tensors[0].strides, (std::vector<std::uint64_t>{4}));
}

TEST(SourceLayout, DenseOrRepeated_KeepTheirStrides) {
  const SourceLayout layout =
      laid_out({source("channels_last", {2, 3, 4}, {12, 1, 3}), source("expanded", {1000, 4}, {0, 1}, 0x20000)});
  EXPECT_EQ(layout.tensors[0].strides, (std::vector<std::uint64_t>{12, 1, 3}));
  EXPECT_EQ(layout.tensors[1].strides, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(layout.tensors[1].bytes, 16U) << "four elements, seen a thousand times";
  EXPECT_TRUE(layout.notes.empty());
}

}  // namespace
}  // namespace forklift
