#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <numeric>

#include "forklift/model_builder.hpp"
#include "tests/model/model_test.hpp"

namespace forklift {
namespace {

using namespace support;

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

class ModelBuilder : public ModelTest {
 protected:
  void SetUp() override { std::iota(numbers_.begin(), numbers_.end(), 0.0F); }

  /// Must be accepted.
  void add(const std::string& name, const float* data, Shape shape, Strides strides = {}) {
    const auto added =
        builder_.add({.name = name, .shape = std::move(shape), .strides = std::move(strides), .data = data});
    ASSERT_TRUE(added.ok()) << added.error().message;
  }
  SharedModel finished(const ModelOptions& options = {}) {
    auto model = builder_.finish(options);
    if (!model) throw std::runtime_error(model.error().message);
    return std::move(model).value();
  }

  std::vector<float> numbers_ = std::vector<float>(4096);
  SharedModel::Builder builder_;
};

std::vector<float> elements(const SharedModel& model, const std::string& name) {
  const auto found = model.tensor(name).value().as<float>().value();
  return {found.begin(), found.end()};
}

/// Where a tensor begins, in elements from the beginning of another.
std::ptrdiff_t distance(const SharedModel& model, const std::string& from, const std::string& to) {
  const auto* const first = reinterpret_cast<const float*>(model.tensor(from).value().bytes.data());
  return reinterpret_cast<const float*>(model.tensor(to).value().bytes.data()) - first;
}

TEST_F(ModelBuilder, Tensors_AreCopiedAndSealed) {
  add("a", numbers_.data(), {2, 3});
  add("b", numbers_.data() + 100, {4});
  const SharedModel model = finished();
  std::fill(numbers_.begin(), numbers_.end(), -1.0F);
  EXPECT_EQ(elements(model, "a"), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(elements(model, "b"), (std::vector<float>{100, 101, 102, 103}));
  EXPECT_EQ(model.mapped_by(), "memfd");
  EXPECT_EQ(model.path(), "");
  EXPECT_EQ(model.bytes(), 40U);
  EXPECT_EQ(model.changed(), std::nullopt);
  EXPECT_NE(::fcntl(model.share().value().descriptors()[1], F_GET_SEALS) & F_SEAL_WRITE, 0);
  EXPECT_FALSE(model.tensor("a").value().writable_bytes().ok());
}

TEST_F(ModelBuilder, TiedAndOverlapping_AreStoredOnce) {
  add("embedding", numbers_.data(), {64, 32});
  add("head", numbers_.data(), {64, 32});
  add("turned", numbers_.data(), {32, 64}, {1, 32});
  add("rows", numbers_.data() + 10 * 32, {5, 32});
  add("column", numbers_.data() + 3, {64}, {32});
  const SharedModel model = finished();
  EXPECT_EQ(model.bytes(), 64U * 32 * 4);
  EXPECT_EQ(model.tied_groups(), (NameGroups{{"embedding", "head", "turned"}})) << "a part is not the whole";
  EXPECT_EQ(distance(model, "embedding", "head"), 0);
  EXPECT_EQ(distance(model, "embedding", "rows"), 320);
  EXPECT_EQ(distance(model, "embedding", "column"), 3);
  EXPECT_EQ(elements(model, "rows")[0], 320);
  const TensorView column = model.tensor("column").value();
  EXPECT_EQ(Shape(column.strides.begin(), column.strides.end()), (Shape{32}));
  EXPECT_EQ(column.as<float>().error().message, "tensor 'column' is not in row-major order: use its bytes and strides");
  EXPECT_EQ(column.bytes.size(), (63U * 32 + 1) * 4);
  EXPECT_TRUE(model.notes().empty());
}

TEST_F(ModelBuilder, LoneViewWithHoles_IsPackedAndSaid) {
  add("block", numbers_.data() + 5, {3, 2, 4}, {640, 16, 1});
  add("every_second", numbers_.data() + 3000, {50}, {2});
  const SharedModel model = finished();
  std::vector<float> expected;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 4; ++k) expected.push_back(static_cast<float>(5 + 640 * i + 16 * j + k));
    }
  }
  EXPECT_EQ(elements(model, "block"), expected);
  EXPECT_EQ(elements(model, "every_second")[49], 3098);
  ASSERT_EQ(model.notes().size(), 2U);
  EXPECT_TRUE(contains(model.notes()[0], "tensor 'block' was packed: 96 bytes of the")) << model.notes()[0];
}

TEST_F(ModelBuilder, PackedTensorLargerThanABuffer_IsWhole) {
  std::vector<float> many(std::size_t{2} * 100'000);
  std::iota(many.begin(), many.end(), 0.0F);
  add("even", many.data(), {100'000}, {2});
  const SharedModel model = finished();
  const std::vector<float> even = elements(model, "even");
  for (std::size_t i = 0; i < even.size(); ++i) ASSERT_EQ(even[i], static_cast<float>(2 * i));
}

TEST_F(ModelBuilder, Expanded_StaysOneRow) {
  add("expanded", numbers_.data(), {1'000'000, 4}, {0, 1});
  const SharedModel model = finished();
  EXPECT_EQ(model.bytes(), 16U);
  EXPECT_EQ(model.tensor("expanded").value().elements(), 4'000'000U);
}

TEST_F(ModelBuilder, EmptyAndScalar_AreTensorsToo) {
  add("scalar", numbers_.data() + 7, {});
  add("empty", nullptr, {0, 5});
  const SharedModel model = finished();
  EXPECT_EQ(elements(model, "scalar"), (std::vector<float>{7}));
  EXPECT_TRUE(elements(model, "empty").empty());
  EXPECT_TRUE(builder_.finish().value().tensors().empty()) << "a builder starts anew";
}

TEST_F(ModelBuilder, ManyMebibytes_AreCopiedByThreads) {
  std::vector<float> large(std::size_t{10} << 20U);  // 40 MiB
  std::iota(large.begin(), large.end(), 0.0F);
  add("large", large.data(), {large.size()});
  CopyProgress last;
  const SharedModel model = finished({.observer = [&](const CopyProgress& progress) { last = progress; }});
  EXPECT_EQ(last.copied_bytes, large.size() * 4);
  EXPECT_EQ(last.total_bytes, large.size() * 4);
  EXPECT_EQ(elements(model, "large"), large);
}

TEST_F(ModelBuilder, SharedAccess_StaysWritable) {
  add("a", numbers_.data(), {4});
  const SharedModel model = finished({.access = ModelAccess::shared});
  const Ended ended = in_child([&] {
    model.tensor("a").value().as_writable<float>().value()[1] = 50;
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(elements(model, "a"), (std::vector<float>{0, 50, 2, 3}));
  EXPECT_EQ(numbers_[1], 1) << "the framework's own memory is not it";
}

TEST_F(ModelBuilder, NameTwice_IsRefused) {
  add("a\n", numbers_.data(), {4});
  const auto again = builder_.add({.name = "a\n", .shape = {1}, .data = numbers_.data()});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, "tensor 'a\\x0a' cannot be shared: there is one of that name already");
  EXPECT_FALSE(builder_.add({.name = "null", .shape = {1}}).ok());
  EXPECT_EQ(finished().tensors().size(), 1U) << "what was refused leaves no trace";
}

TEST_F(ModelBuilder, MemoryThatIsNotThere_IsAnErrorAndNoCrash) {
  void* const nothing = ::mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  add("good", numbers_.data(), {4});
  add("gone", static_cast<const float*>(nothing), {4});
  const auto model = builder_.finish();
  ::munmap(nothing, 8192);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message, "tensor 'gone' cannot be copied: its memory cannot be read");
  EXPECT_EQ(model.error().os_errno, EFAULT);
}

TEST_F(ModelBuilder, TiedOption_AddsNames) {
  add("a", numbers_.data(), {4});
  EXPECT_EQ(finished({.tied = {{"a", "b"}}}).tied_groups(), (NameGroups{{"a", "b"}}));
}

TEST_F(ModelBuilder, HandedOn_KeepsStridesAndTies) {
  add("w", numbers_.data(), {4, 8});
  add("t", numbers_.data(), {8, 4}, {1, 8});
  const ModelHandle handle = finished().share().value();
  const SharedModel model = SharedModel::attach(handle.descriptors()[0]).value();
  EXPECT_EQ(model.tied_groups(), (NameGroups{{"t", "w"}}));
  const TensorView turned = model.tensor("t").value();
  EXPECT_EQ(Shape(turned.strides.begin(), turned.strides.end()), (Shape{1, 8}));
  EXPECT_EQ(elements(model, "w")[31], 31);
}

}  // namespace
}  // namespace forklift
