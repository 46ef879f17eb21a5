// Groups by identity. The rows named after Lightning and accelerate are the models of their own public tests
// (Lightning: tests_pytorch/utilities/test_parameter_tying.py, accelerators/test_tpu.py; accelerate:
// test_modeling_utils.py).
#include <gtest/gtest.h>

#include "tests/tying/model_builder.hpp"

namespace forklift {
namespace {

/// linear1 … linearN, a weight and a bias each.
ModelBuilder sequential(int layers, const std::string& prefix = "", StorageIdentity first = 1) {
  ModelBuilder model = a_model(first);
  for (int i = 1; i <= layers; ++i) {
    const std::string layer = prefix + "linear" + std::to_string(i);
    model.weight(layer + ".weight", 1'000'000).weight(layer + ".bias", 1000);
  }
  return model;
}

/// Assigns the tensor of `source` to `target`, as `model.target = model.source` does.
ModelBuilder& assign(ModelBuilder& model, const std::string& target, const std::string& source) {
  NamedParameter same = model.get(source);
  same.name = target;
  model.get(target) = same;
  return model;
}

std::vector<NamedParameter> joined(std::vector<NamedParameter> first, const std::vector<NamedParameter>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Row {
  std::string name;
  std::vector<NamedParameter> model;
  NameGroups groups;
};

std::vector<Row> public_rows() {
  std::vector<Row> rows;
  rows.push_back({"Lightning: one layer", a_model().weight("layer.weight", 64).weight("layer.bias", 2), {}});
  rows.push_back(
      {"Lightning: two of three layers",
       a_model().weight("layer_1.weight", 320).weight("layer_2.weight", 320).tied("layer_3.weight", "layer_1.weight"),
       {{"layer_1.weight", "layer_3.weight"}}});
  rows.push_back({"Lightning: one layer held by three modules",
                  a_model()
                      .weight("layer.weight", 320)
                      .tied("net_a.layer.weight", "layer.weight")
                      .weight("layer_2.weight", 320)
                      .tied("net_b.layer.weight", "layer.weight"),
                  {{"layer.weight", "net_a.layer.weight", "net_b.layer.weight"}}});
  rows.push_back({"Lightning: the module itself is shared, weight and bias",
                  a_model()
                      .weight("net_a.layer.weight", 320)
                      .weight("net_a.layer.bias", 10)
                      .tied("net_b.layer.weight", "net_a.layer.weight")
                      .tied("net_b.layer.bias", "net_a.layer.bias"),
                  {{"net_a.layer.bias", "net_b.layer.bias"}, {"net_a.layer.weight", "net_b.layer.weight"}}});

  ModelBuilder model = sequential(4);
  rows.push_back({"accelerate: nothing is tied", model, {}});
  assign(model, "linear2.weight", "linear1.weight");
  rows.push_back({"accelerate: a pair", model, {{"linear1.weight", "linear2.weight"}}});
  assign(model, "linear4.weight", "linear1.weight");
  rows.push_back({"accelerate: three", model, {{"linear1.weight", "linear2.weight", "linear4.weight"}}});
  model = sequential(5);
  assign(model, "linear1.weight", "linear4.weight");
  assign(model, "linear2.weight", "linear3.weight");
  assign(model, "linear5.weight", "linear2.weight");
  rows.push_back({"accelerate: two groups",
                  model,
                  {{"linear1.weight", "linear4.weight"}, {"linear2.weight", "linear3.weight", "linear5.weight"}}});
  std::vector<NamedParameter> blocks = joined(sequential(4, "block1."), sequential(4, "block2.", 100));
  blocks[8].storage = blocks[0].storage;
  rows.push_back({"accelerate: across blocks", blocks, {{"block1.linear1.weight", "block2.linear1.weight"}}});
  rows.push_back({"accelerate: the same layer twice",
                  a_model().weight("0.weight").weight("0.bias").tied("1.weight", "0.weight").tied("1.bias", "0.bias"),
                  {{"0.bias", "1.bias"}, {"0.weight", "1.weight"}}});
  return rows;
}

TEST(FindTied, ModelsOfThePublicTests_HaveTheGroupsExpectedThere) {
  for (const Row& row : public_rows()) EXPECT_EQ(find_tied(row.model), row.groups) << row.name;
}

TEST(FindTied, EncoderAndDecoderWithOneEmbedding_IsOneGroup) {
  EXPECT_EQ(
      find_tied(a_model()
                    .weight("shared.weight")
                    .tied("lm_head.weight", "shared.weight")
                    .tied("encoder.embed_tokens.weight", "shared.weight")
                    .tied("decoder.embed_tokens.weight", "shared.weight")),
      (NameGroups{{"decoder.embed_tokens.weight", "encoder.embed_tokens.weight", "lm_head.weight", "shared.weight"}}));
}

TEST(FindTied, UnknownStorageAndEmptyTensors_AreTiedToNothing) {
  EXPECT_TRUE(find_tied(a_model().weight("a").tied("b", "a").unknown_storage("b")).empty());
  EXPECT_TRUE(find_tied(a_model().weight("a").tied("b", "a").unknown_storage("a").unknown_storage("b")).empty());
  EXPECT_TRUE(find_tied(a_model().weight("a", 0).tied("b", "a")).empty());
}

TEST(FindTied, NamesOnMeta_AreTiedByTheirIdentity) {
  EXPECT_EQ(find_tied(a_model().weight("a").tied("b", "a").on_meta("a").on_meta("b")), (NameGroups{{"a", "b"}}));
}

TEST(FindTied, NameListedTwice_CountsAsItsFirstEntry) {
  std::vector<NamedParameter> twice = a_model().weight("a").weight("b");
  twice.push_back(twice[1]);
  twice.back().name = "a";
  EXPECT_TRUE(find_tied(twice).empty());
  EXPECT_EQ(count_parameters(twice).names, 2U);
}

TEST(FindTied, Views_AreNoAliases) {
  const std::vector<NamedParameter> model =
      a_model().weight("whole", 100).view("head", "whole", 0, 50).view("tail", "whole", 50, 50);
  EXPECT_TRUE(find_tied(model).empty());
  EXPECT_EQ(find_overlapping(model), (NameGroups{{"head", "tail", "whole"}}));
}

TEST(FindTied, SameBytesAsAnotherType_OverlapsAndIsNoAlias) {
  ModelBuilder model = a_model().weight("floats", 100).tied("halves", "floats");
  model.get("halves").elements = 200;
  EXPECT_TRUE(find_tied(model).empty());
  EXPECT_EQ(find_overlapping(model), (NameGroups{{"floats", "halves"}}));
}

TEST(FindOverlapping, SlicesSideBySide_ShareNothing) {
  EXPECT_TRUE(find_overlapping(a_model()
                                   .weight("flat", 100)
                                   .view("query", "flat", 0, 30)
                                   .view("key", "flat", 30, 30)
                                   .unknown_storage("flat"))
                  .empty());
}

TEST(FindOverlapping, ChainOfViews_IsOneGroupAndAliasesBelongToIt) {
  EXPECT_EQ(find_overlapping(a_model()
                                 .weight("base", 100)
                                 .view("a", "base", 0, 20)
                                 .view("b", "base", 10, 20)
                                 .tied("b2", "b")
                                 .view("c", "base", 29, 10)
                                 .view("d", "base", 39, 10)
                                 .weight("elsewhere")
                                 .unknown_storage("base")),
            (NameGroups{{"a", "b", "b2", "c"}}));
}

TEST(FindOverlapping, TensorThatEndsAtTheLastAddress_DoesNotWrapAround) {
  ModelBuilder model = a_model().weight("a", 4).view("b", "a", 0, 4);
  model.get("b").offset_bytes = ~std::uint64_t{0} - 4;
  EXPECT_TRUE(find_overlapping(model).empty());
}

TEST(CountParameters, TiedNames_CountOnce) {
  EXPECT_EQ(count_parameters(a_model().weight("a", 100).tied("b", "a").weight("c", 10)), (ParameterCount{3, 2, 440}));
}

TEST(CountParameters, SharedBytes_CountOnceAndMetaNotAtAll) {
  EXPECT_EQ(count_parameters(a_model().weight("a", 100).view("b", "a", 50, 50).weight("c", 10).on_meta("c")),
            (ParameterCount{3, 3, 400}));
  EXPECT_EQ(count_parameters(a_model().weight("a", 100).unknown_storage("a")), (ParameterCount{1, 1, 400}));
  EXPECT_EQ(count_parameters({}), ParameterCount{});
}

}  // namespace
}  // namespace forklift
