#include "worker/format/model_manifest.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/formats/layout_builder.hpp"

namespace forklift {
namespace {

using support::layout_of;
using support::tensor;

ModelLayout sample() {
  ModelLayout layout = layout_of({tensor("a", {2, 3}, 8), tensor("é", {}, 0, 1), tensor("", {0}, 4096)}, 2);
  layout.access = ModelAccess::copy_on_write;
  layout.tensors[0].strides = {1, 2};
  layout.parts[1].kind = PartKind::huge_tmpfs;
  layout.parts[1].path = "";
  layout.parts[1].identity = {~0ULL, ~0ULL, 1ULL << 40U, -5};
  return layout;
}

std::string reason_of(const std::string& bytes) {
  const auto layout = decode_manifest(bytes);
  if (layout) return "accepted";
  constexpr std::string_view beginning = "the manifest of the model is damaged: ";
  EXPECT_TRUE(layout.error().message.starts_with(beginning)) << layout.error().message;
  return layout.error().message.substr(beginning.size());
}

TEST(ModelManifest, Layout_ComesBackAsItWas) {
  for (const ModelLayout& layout : {sample(), layout_of({}, 0), ModelLayout{}}) {
    const auto decoded = decode_manifest(encode_manifest(layout));
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_EQ(decoded.value(), layout);
  }
}

TEST(ModelManifest, EveryCutAndEveryTail_IsRefused) {
  const std::string bytes = encode_manifest(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(reason_of(bytes.substr(0, length)), "accepted") << length;
  }
  EXPECT_EQ(reason_of(bytes + "x"), "at byte " + std::to_string(bytes.size()) + ": bytes behind its end");
}

// Any byte changed to any value: accepted or refused, but what is accepted lies inside its parts.
TEST(ModelManifest, EveryChangedByte_IsRefusedOrHarmless) {
  const std::string bytes = encode_manifest(sample());
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (int value = 0; value < 256; value += 5) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      const auto decoded = decode_manifest(changed);
      if (!decoded) continue;
      for (const ModelTensor& one : decoded.value().tensors) {
        ASSERT_LT(one.part, decoded.value().parts.size());
        ASSERT_LE(one.offset + one.bytes, decoded.value().parts[one.part].identity.length);
      }
      ASSERT_EQ(encode_manifest(decoded.value()), changed) << place << ' ' << value;
    }
  }
}

TEST(ModelManifest, LayoutThatLies_IsRefused) {
  const struct {
    std::function<void(ModelLayout&)> change;
    const char* reason;
  } table[] = {
      {[](ModelLayout& l) { l.tensors[0].part = 2; }, "tensor 'a': it lies in part 2 of 2"},
      {[](ModelLayout& l) { l.tensors[0].offset = 4090; },
       "tensor 'a': its 24 bytes at 4090 reach beyond the 4096 of its part"},
      {[](ModelLayout& l) { l.tensors[0].offset = ~0ULL; },
       "tensor 'a': its 24 bytes at 18446744073709551615 reach beyond the 4096 of its part"},
      {[](ModelLayout& l) { l.tensors[0].bytes = 23; }, "tensor 'a': 23 bytes do not fit F32 [2, 3]"},
      {[](ModelLayout& l) {
         l.tensors[0].shape = {1ULL << 63U, 1ULL << 63U};
       },
       "tensor 'a': 24 bytes do not fit F32 [9223372036854775808, 9223372036854775808]"},
      {[](ModelLayout& l) { l.tensors[0].strides = {1}; }, "tensor 'a': 24 bytes do not fit F32 [2, 3]"},
      {[](ModelLayout& l) { l.tensors[2].name = "a"; }, "tensor 'a' is there twice"},
      {[](ModelLayout& l) { l.parts[0].descriptor = -1; }, "a part has no descriptor"},
      {[](ModelLayout& l) { l.parts[1].identity.length = 1ULL << 63U; }, "a part is longer than any file"},
      {[](ModelLayout& l) { l.access = ModelAccess::shared; }, "a file is to be written to"},
  };
  for (const auto& row : table) {
    ModelLayout layout = sample();
    row.change(layout);
    EXPECT_EQ(reason_of(encode_manifest(layout)), row.reason);
  }
}

TEST(ModelManifest, HugeCount_IsRefusedBeforeItIsBelieved) {
  std::string bytes = encode_manifest(layout_of({}, 0));
  const std::string tail = "\xff\xff\xff\xff";
  bytes.replace(bytes.size() - 4, 4, tail);
  EXPECT_EQ(reason_of(bytes),
            "at byte " + std::to_string(bytes.size()) + ": a count of 4294967295, for which there is no room");
  EXPECT_EQ(reason_of("FORKLIFT"), "it does not begin as one of this version does");
}

TEST(ModelDescriptors, Text_IsReadOrRefused) {
  const struct {
    const char* text;
    std::optional<ModelDescriptors> descriptors;
  } table[] = {
      {"5", ModelDescriptors{5, {}}},
      {"5:6", ModelDescriptors{5, {6}}},
      {"5:6,7,1000", ModelDescriptors{5, {6, 7, 1000}}},
      {"", std::nullopt},
      {"-1", std::nullopt},
      {"5:", std::nullopt},
      {"5:6,", std::nullopt},
      {"5,6", std::nullopt},
      {"5:6:7", std::nullopt},
      {"5:-6", std::nullopt},
      {" 5", std::nullopt},
      {"5x", std::nullopt},
      {"99999999999", std::nullopt},
  };
  for (const auto& row : table) {
    EXPECT_EQ(parse_descriptors(row.text), row.descriptors) << row.text;
    if (row.descriptors) {
      EXPECT_EQ(descriptors_text(*row.descriptors), row.text);
    }
  }
}

}  // namespace
}  // namespace forklift
