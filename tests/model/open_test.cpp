#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <complex>

#include "tests/model/model_test.hpp"

namespace forklift {
namespace {

using namespace support;

class OpenModel : public ModelTest {};

TEST_F(OpenModel, File_IsMappedWithoutACopy) {
  const std::string path = write("m.safetensors", {floats("a", {1, 2, 3}), bytes_tensor("b", 5)});
  const SharedModel model = opened(path);
  EXPECT_EQ(model.path(), path);
  EXPECT_EQ(model.bytes(), 17U);
  EXPECT_EQ(model.mapped_by(), "file");
  EXPECT_EQ(model.access(), ModelAccess::read);
  EXPECT_TRUE(model.notes().empty());
  EXPECT_TRUE(is_mapped(path));

  ASSERT_EQ(model.tensors().size(), 2U);
  const TensorView a = model.tensor("a").value();
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.dtype, Dtype::f32);
  EXPECT_EQ(std::vector<std::uint64_t>(a.shape.begin(), a.shape.end()), (std::vector<std::uint64_t>{3}));
  const auto elements = a.as<float>();
  ASSERT_TRUE(elements.ok());
  EXPECT_EQ(std::vector<float>(elements.value().begin(), elements.value().end()), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(text_of(model.tensor("b").value()), counting_bytes(5));
  EXPECT_EQ(a.bytes.data() + 12, model.tensor("b").value().bytes.data()) << "as they lie in the file";
}

TEST_F(OpenModel, UnknownTensor_IsNamed) {
  const std::string path = write("m.safetensors", {floats("a", {1})});
  const SharedModel model = opened(path);
  EXPECT_TRUE(model.contains("a"));
  EXPECT_FALSE(model.contains("A"));
  const auto missing = model.tensor("A");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "model '" + path + "' has no tensor 'A', but 1 others");
}

TEST_F(OpenModel, Copies_KeepTheMapping) {
  const std::string path = write("m.safetensors", {bytes_tensor("a", 4)});
  std::optional<SharedModel> first = opened(path);
  const SharedModel second = *first;
  const TensorView view = first->tensor("a").value();
  first.reset();
  EXPECT_EQ(text_of(view), counting_bytes(4));
  EXPECT_TRUE(is_mapped(path));
}

TEST_F(OpenModel, LastCopy_EndsTheMapping) {
  const std::string path = write("m.safetensors", {bytes_tensor("a", 4)});
  { const SharedModel model = opened(path); }
  EXPECT_FALSE(is_mapped(path));
}

TEST_F(OpenModel, TypedAccess_ChecksTypeAndAddress) {
  const SharedModel model = opened(write("m.safetensors", {{"f64", "F64", {2}, std::string(16, '\0')},
                                                           {"c64", "C64", {2}, std::string(16, '\0')},
                                                           {"bf16", "BF16", {2}, "abcd"},
                                                           {"bool", "BOOL", {2}, std::string("\0\1", 2)},
                                                           {"i8", "I8", {1}, "\xff"},
                                                           {"odd", "F16", {1}, "ab"},
                                                           {"f4", "F4", {2}, "x"}}));
  const auto tensor = [&](const char* name) { return model.tensor(name).value(); };
  EXPECT_EQ(tensor("f64").as<double>().value().size(), 2U);
  EXPECT_EQ(tensor("c64").as<std::complex<float>>().value().size(), 2U);
  EXPECT_EQ(tensor("bf16").as<std::uint16_t>().value()[0], 0x6261) << "the bits of what C++ has no type for";
  EXPECT_EQ(tensor("bool").as<std::uint8_t>().value()[1], 1);
  EXPECT_EQ(tensor("i8").as<std::int8_t>().value()[0], -1);
  EXPECT_EQ(tensor("bf16").as<float>().error().message, "tensor 'bf16' holds BF16, which is not the type asked for");
  EXPECT_FALSE(tensor("bf16").as<std::int16_t>().ok());
  EXPECT_FALSE(tensor("i8").as<std::uint8_t>().ok());
  EXPECT_FALSE(tensor("f64").as<std::uint64_t>().ok());
  EXPECT_FALSE(tensor("f4").as<std::uint8_t>().ok());
  EXPECT_EQ(tensor("odd").as<std::uint16_t>().error().message,
            "tensor 'odd' lies at an address that is not divisible by 2: open the model with ModelLoading::copy, which "
            "aligns it");
  EXPECT_FALSE(tensor("f64").writable_bytes().ok());
}

TEST_F(OpenModel, MisalignedHeader_IsMendedByACopy) {
  const std::string path =
      write_bytes("m.safetensors", model_bytes({floats("a", {5, 6}), bytes_tensor("b", 3), floats("c", {7})}, {}, 1));
  EXPECT_FALSE(opened(path).tensor("a").value().as<float>().ok());
  const SharedModel model = opened(path, {.loading = ModelLoading::copy});
  EXPECT_EQ(model.tensor("a").value().as<float>().value()[1], 6);
  EXPECT_EQ(model.tensor("c").value().as<float>().value()[0], 7);
  EXPECT_EQ(text_of(model.tensor("b").value()), counting_bytes(3));
}

TEST_F(OpenModel, ModelWithoutBytes_Opens) {
  for (const ModelLoading loading : {ModelLoading::map, ModelLoading::copy}) {
    EXPECT_TRUE(opened(write("none.safetensors", {}), {.loading = loading}).tensors().empty());
    const SharedModel model = opened(write("empty.safetensors", {{"e", "F32", {0, 4}, ""}}), {.loading = loading});
    EXPECT_EQ(model.bytes(), 0U);
    EXPECT_TRUE(model.tensor("e").value().bytes.empty());
    EXPECT_TRUE(model.tensor("e").value().as<float>().value().empty());
  }
}

TEST_F(OpenModel, TiedNames_ShareTheirBytes) {
  const std::string path =
      write("m.safetensors", {floats("a", {1, 2}), floats("c", {3})}, {{"b", "a"}, {"format", "pt"}});
  for (const ModelLoading loading : {ModelLoading::map, ModelLoading::copy}) {
    const SharedModel model = opened(path, {.loading = loading, .tied = {{"c", "d", "e"}}});
    EXPECT_EQ(model.tied_groups(), (NameGroups{{"a", "b"}, {"c", "d", "e"}}));
    EXPECT_EQ(model.tensor("a").value().bytes.data(), model.tensor("b").value().bytes.data());
    EXPECT_EQ(model.tensor("e").value().as<float>().value()[0], 3);
    EXPECT_EQ(model.bytes(), 12U);
  }
  EXPECT_EQ(refusal(path, {.tied = {{"x", "y"}}}), "none of the tied names 'x', 'y' is a tensor of '" + path + "'");
}

class OpenFolder : public ModelTest {
 protected:
  void write_shards() const {
    write("m-00001.safetensors", {floats("a", {1}), bytes_tensor("b", 3)}, {{"tied", "a"}});
    write("m-00002.safetensors", {floats("c", {2, 3})});
  }
  std::string write_index(const std::string& name, const std::string& total) const {
    return write_bytes(
        name, R"({"metadata":{"total_size":)" + total +
                  R"(},"weight_map":{"a":"m-00001.safetensors","b":"m-00001.safetensors","c":"m-00002.safetensors"}})");
  }
};

TEST_F(OpenFolder, ShardedModel_IsOne) {
  write_shards();
  const std::string index = write_index("model.safetensors.index.json", "15");
  for (const std::string& path : {index, folder(), folder() + "/"}) {
    for (const ModelLoading loading : {ModelLoading::map, ModelLoading::copy}) {
      const SharedModel model = opened(path, {.loading = loading});
      EXPECT_EQ(model.path(), index);
      EXPECT_EQ(model.bytes(), 15U);
      EXPECT_TRUE(model.notes().empty());
      EXPECT_EQ(model.tensor("c").value().as<float>().value()[1], 3);
      EXPECT_EQ(text_of(model.tensor("b").value()), counting_bytes(3));
      EXPECT_EQ(model.tied_groups(), (NameGroups{{"a", "tied"}}));
    }
  }
}

TEST_F(OpenFolder, WrongTotalSize_IsANote) {
  write_shards();
  const std::string index = write_index("i.safetensors.index.json", "16");
  EXPECT_EQ(opened(index).notes(),
            (std::vector<std::string>{"'" + index + "': total_size is 16, but the files hold 15 bytes of tensors"}));
}

TEST_F(OpenFolder, MissingOrDamagedShard_IsNamedWithItsIndex) {
  write_shards();
  const std::string index = write_index("model.safetensors.index.json", "15");
  std::filesystem::remove(folder() + "/m-00002.safetensors");
  EXPECT_EQ(refusal(index), "model '" + folder() +
                                "/m-00002.safetensors' cannot be opened: No such file or directory (a "
                                "file of the index '" +
                                index + "')");
  write_bytes("m-00002.safetensors", "short");
  EXPECT_TRUE(contains(refusal(index), "m-00002.safetensors' is no valid safetensors file: it has 5 bytes"))
      << refusal(index);
  write("m-00002.safetensors", {floats("d", {2, 3})});
  EXPECT_TRUE(
      contains(refusal(index), "weight_map places tensor 'c' in file 'm-00002.safetensors', which does not have it"));
}

TEST_F(OpenFolder, WhatAFolderStandsFor_IsClearOrAskedFor) {
  const auto in_folder = [&](const std::string& what) { return "model '" + folder() + "': the folder " + what; };
  EXPECT_EQ(refusal(folder()), in_folder("has no file *.safetensors or *.safetensors.index.json"));
  const std::string only = write("bert.safetensors", {floats("a", {1})});
  EXPECT_EQ(opened(folder()).path(), only);
  write("gpt.safetensors", {floats("a", {1})});
  EXPECT_EQ(refusal(folder()),
            in_folder("has 2 files *.safetensors ('bert.safetensors', 'gpt.safetensors'); name one of them"));
  const std::string model = write("model.safetensors", {floats("a", {1})});
  EXPECT_EQ(opened(folder()).path(), model);
}

TEST_F(OpenModel, WhatIsNoModel_IsRefusedWithItsPath) {
  const std::string missing = folder() + "/none.safetensors";
  const auto model = SharedModel::open(missing);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
  EXPECT_EQ(model.error().os_errno, ENOENT);
  EXPECT_EQ(model.error().message, "model '" + missing + "': there is no such file or folder");
  EXPECT_TRUE(contains(refusal(""), "expected the path of a safetensors file"));
  const std::string fifo = folder() + "/fifo.safetensors";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refusal(fifo), "model '" + fifo + "' is no regular file") << "and it does not wait for a writer";
  EXPECT_TRUE(contains(refusal(write_bytes("e.safetensors", "")), "it has 0 bytes"));
  EXPECT_TRUE(contains(refusal(write_bytes("lfs.safetensors", "version https://git-lfs.github.com/spec/v1\noid")),
                       "git lfs pull"));
  EXPECT_TRUE(contains(refusal(write_bytes("i.json", "[]")), "no valid index"));
}

TEST_F(OpenModel, RelativePath_IsMadeAbsolute) {
  const std::string path = write("m.safetensors", {floats("a", {1})});
  const std::string relative = std::filesystem::relative(path).string();
  EXPECT_EQ(opened(relative).path(), path);
}

TEST_F(OpenModel, Prefault_MapsEveryPage) {
  constexpr std::size_t size = std::size_t{8} << 20U;
  const std::string path = write("m.safetensors", {bytes_tensor("a", size)});
  for (const ModelLoading loading : {ModelLoading::map, ModelLoading::copy}) {
    const SharedModel cold = opened(path, {.loading = loading});
    EXPECT_EQ(mapping_bytes(cold.tensor("a").value().bytes.data(), "Rss"), 0U) << "opening touches nothing";
    const SharedModel warm = opened(path, {.loading = loading, .prefault = Prefault::yes});
    EXPECT_GE(mapping_bytes(warm.tensor("a").value().bytes.data(), "Rss"), size);
    cold.prefault();
    EXPECT_GE(mapping_bytes(cold.tensor("a").value().bytes.data(), "Rss"), size);
  }
}

TEST_F(OpenModel, Prefault_WorksOnOlderKernels) {
  constexpr long populate_read = 22;  // Linux 5.14
  constexpr std::size_t size = std::size_t{4} << 20U;
  const std::string path = write("m.safetensors", {bytes_tensor("a", size)});
  const Ended ended = in_child([&] {
    deny_system_call(SYS_madvise, EINVAL, populate_read);
    const SharedModel model = opened(path, {.prefault = Prefault::yes});
    const std::uint64_t resident = mapping_bytes(model.tensor("a").value().bytes.data(), "Rss");
    return resident >= size ? 0 : 1;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

TEST_F(OpenModel, Warmer_MapsEveryPageInTheBackground) {
  constexpr std::size_t size = std::size_t{40} << 20U;
  const SharedModel model = opened(write_zeros("m.safetensors", size));
  {
    ModelWarmer warmer(model);
    warmer.wait();
    EXPECT_GE(mapping_bytes(model.tensor("zeros").value().bytes.data(), "Rss"), size);
  }
  const ModelWarmer stopped(model);  // Its end does not wait for all pages, and hangs on nothing.
}

}  // namespace
}  // namespace forklift
