// Tied names through files that cannot hold them (the cases of safetensors: bindings/python/tests/test_pt_model.py).
#include "worker/format/model_aliases.hpp"

#include <gtest/gtest.h>

#include "tests/formats/layout_builder.hpp"

namespace forklift {
namespace {

using support::layout_of;
using support::tensor;
using Metadata = std::map<std::string, std::string>;

ModelLayout linear(const std::string& module, std::uint64_t size) {
  return layout_of(
      {tensor(module + ".weight", {size, size}, 100), tensor(module + ".bias", {size}, 100 + 4 * size * size)});
}

ModelLayout two_linears() {
  return layout_of({tensor("a.weight", {2, 2}, 0), tensor("a.bias", {2}, 16), tensor("b.weight", {2, 2}, 24),
                    tensor("b.bias", {2}, 40)});
}

const Metadata b_is_a = {{"b.bias", "a.bias"}, {"b.weight", "a.weight"}};
const NameGroups a_and_b = {{"a.bias", "b.bias"}, {"a.weight", "b.weight"}};

TEST(ModelAliases, RemovedNames_StandForTheKeptOnes) {
  for (const std::uint64_t size : {4U, 100U}) {  // OnesModel and Model
    ModelLayout layout = linear("a", size);
    add_metadata_aliases(layout, b_is_a, 0);
    EXPECT_EQ(tied_groups(layout), a_and_b);
    ASSERT_EQ(layout.tensors.size(), 4U);
    const ModelTensor& kept = layout.tensors[TensorNames(layout.tensors).find("a.weight").value()];
    ModelTensor added = layout.tensors[TensorNames(layout.tensors).find("b.weight").value()];
    added.name = kept.name;
    EXPECT_EQ(added, kept);
    EXPECT_EQ(stored_bytes(layout), 4 * (size * size + size)) << "each storage once";
  }
}

TEST(ModelAliases, OtherNamesOnFile_AreTiedByTheModelsOwnGroups) {
  ModelLayout layout = linear("b", 100);
  const auto notes = add_tied_names(layout, a_and_b);
  ASSERT_TRUE(notes.ok());
  EXPECT_TRUE(notes.value().empty());
  EXPECT_EQ(tied_groups(layout), a_and_b);
}

TEST(ModelAliases, ModelWithoutTies_HasNone) {  // NonContiguousModel, CopyModel
  ModelLayout layout = linear("a", 100);
  add_metadata_aliases(layout, {}, 0);
  EXPECT_TRUE(tied_groups(layout).empty());
  layout = two_linears();
  add_metadata_aliases(layout, {{"format", "pt"}}, 0);
  EXPECT_TRUE(tied_groups(layout).empty());
  EXPECT_EQ(layout.tensors.size(), 4U);
}

TEST(ModelAliases, NamesStoredSeparately_StaySeparateAndAreTold) {  // a file without ties, a model with ties
  ModelLayout layout = two_linears();
  const auto notes = add_tied_names(layout, a_and_b);
  ASSERT_TRUE(notes.ok());
  EXPECT_EQ(notes.value(),
            (std::vector<std::string>{"the tied names 'a.bias', 'b.bias' are stored separately and stay so",
                                      "the tied names 'a.weight', 'b.weight' are stored separately and stay so"}));
  EXPECT_TRUE(tied_groups(layout).empty());
}

TEST(ModelAliases, RemovedPart_StandsForTheWhole) {  // B was A[:1], C was A
  ModelLayout layout = layout_of({tensor("A", {3, 3}, 0)});
  add_metadata_aliases(layout, {{"B", "A"}, {"C", "A"}}, 0);
  EXPECT_EQ(tied_groups(layout), (NameGroups{{"A", "B", "C"}}));
}

TEST(ModelAliases, MetadataAboutTensorsThatAreThere_AreNoAliases) {
  ModelLayout layout = two_linears();
  add_metadata_aliases(layout, {{"b.weight", "a.weight"}, {"author", "nobody"}, {"", ""}}, 0);
  EXPECT_EQ(layout, two_linears());
}

TEST(ModelAliases, MetadataOfAFile_SpeakOfThatFile) {
  ModelLayout layout = layout_of({tensor("a", {2}, 0, 0), tensor("b", {2}, 0, 1)}, 2);
  add_metadata_aliases(layout, {{"x", "b"}, {"y", "a"}}, 0);
  EXPECT_EQ(tied_groups(layout), (NameGroups{{"a", "y"}}));
  add_metadata_aliases(layout, {{"x", "b"}, {"a", "b"}, {"y", "b"}}, 1);
  EXPECT_EQ(tied_groups(layout), (NameGroups{{"a", "y"}, {"b", "x"}}));
}

TEST(ModelAliases, GroupWithoutAnyTensor_IsRefused) {
  ModelLayout layout = two_linears();
  const auto notes = add_tied_names(layout, {{"x", "y\n"}});
  ASSERT_FALSE(notes.ok());
  EXPECT_EQ(notes.error().message, "none of the tied names 'x', 'y\\x0a' is a tensor of '/models/m.safetensors'");
}

TEST(ModelAliases, NameInTwoGroups_IsAddedOnce) {
  ModelLayout layout = layout_of({tensor("a", {2}, 0)});
  ASSERT_TRUE(add_tied_names(layout, {{"a", "x", "x"}, {"x", "y"}}).ok());
  EXPECT_EQ(tied_groups(layout), (NameGroups{{"a", "x", "y"}}));
  EXPECT_EQ(layout.tensors.size(), 3U);
}

TEST(TensorNames, EachName_IsFoundAndNoOther) {
  const std::vector<ModelTensor> tensors{tensor("b", {}, 0), tensor("", {}, 4), tensor("a", {}, 8)};
  const TensorNames names(tensors);
  EXPECT_EQ(names.find("b"), 0U);
  EXPECT_EQ(names.find(""), 1U);
  EXPECT_EQ(names.find("a"), 2U);
  for (const char* absent : {"c", "aa", "A"}) EXPECT_EQ(names.find(absent), std::nullopt);
  EXPECT_EQ(names.twice(), nullptr);
  const std::vector<ModelTensor> doubled{tensor("x", {}, 0), tensor("y", {}, 4), tensor("x", {}, 8)};
  ASSERT_NE(TensorNames(doubled).twice(), nullptr);
  EXPECT_EQ(*TensorNames(doubled).twice(), "x");
  EXPECT_EQ(TensorNames({}).find("x"), std::nullopt);
}

}  // namespace
}  // namespace forklift
