// Models in programs that inherited descriptors.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "tests/model/model_test.hpp"
#include "worker/descriptor.hpp"
#include "worker/format/model_manifest.hpp"
#include "worker/model/file_io.hpp"
#include "worker/model/store.hpp"

namespace forklift {
namespace {

using namespace support;

class AttachModel : public ModelTest {
 protected:
  std::string path_ = write("m.safetensors", {{"a", "U8", {4}, "abcd"}, {"b", "U8", {2}, "ef"}}, {{"tied", "a"}});
};

/// Executes model_reader with the descriptors of `handle` under these numbers, as a launcher's child set-up does.
Ended read_model(const ModelHandle& handle, const std::vector<int>& numbers, std::vector<std::string> words,
                 const std::string& variable) {
  return in_child([&] {
    const std::vector<int> own = handle.descriptors();
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // Whatever the test itself was started with.
    std::vector<int> high;  // First out of the way: old and new numbers may overlap.
    for (const int number : own) high.push_back(::fcntl(number, F_DUPFD_CLOEXEC, 500));
    for (std::size_t i = 0; i < numbers.size(); ++i) ::dup2(high[i], numbers[i]);  // dup2 clears FD_CLOEXEC
    ::setenv(ModelHandle::environment_name, variable.c_str(), 1);
    std::vector<char*> argv;
    words.insert(words.begin(), FORKLIFT_MODEL_READER);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    return 127;
  });
}

std::string manifest_bytes(const ModelHandle& handle) {
  const int manifest = handle.descriptors().front();
  return weights::read_whole(manifest, weights::identity_of(manifest, PartKind::memfd).value().length, "manifest")
      .value();
}

Ended read_model(const ModelHandle& handle, std::vector<std::string> words) {
  return read_model(handle, handle.descriptors(), std::move(words), handle.environment_value());
}

TEST_F(AttachModel, ExecutedProgram_HasTheModel) {
  const auto expect = [&](const ModelHandle& handle, const std::string& kind) {
    SCOPED_TRACE(kind);
    const Ended ended = read_model(handle, {"print", "tied"});
    EXPECT_EQ(ended.exit_code, 0) << ended;
    EXPECT_EQ(ended.out, path_ + " " + kind + " 6 abcd\n");
  };
  expect(ModelHandle::open(path_).value(), "file");
  expect(ModelHandle::open(path_, {.loading = ModelLoading::copy}).value(), "memfd");
  expect(opened(path_).share().value(), "file");
  expect(ModelHandle::open(path_, {.loading = ModelLoading::copy, .copy_folder = "/dev/shm"}).value(), "tmpfs");
}

TEST_F(AttachModel, NumbersInTheChild_AreTheLaunchersChoice) {
  const auto handle = ModelHandle::open(path_).value();
  const std::vector<int> numbers{20, 30};
  EXPECT_EQ(handle.environment_value(numbers), "20:30");
  EXPECT_EQ(read_model(handle, numbers, {"print", "b"}, handle.environment_value(numbers)).out, path_ + " file 6 ef\n");
  const std::vector<int> own = handle.descriptors();
  const std::vector<int> swapped{own[1], own[0]};
  EXPECT_EQ(read_model(handle, swapped, {"print", "b"}, handle.environment_value(swapped)).out, path_ + " file 6 ef\n");
  EXPECT_EQ(read_model(handle, own, {"print", "b"}, std::to_string(own[0])).out, path_ + " file 6 ef\n")
      << "the manifest alone: its parts have their old numbers";
}

TEST_F(AttachModel, ShardedModel_BringsAllItsParts) {
  write("s-1.safetensors", {{"x", "U8", {2}, "xx"}});
  write("s-2.safetensors", {{"y", "U8", {2}, "yy"}});
  const std::string index =
      write_bytes("s.safetensors.index.json", R"({"weight_map":{"x":"s-1.safetensors","y":"s-2.safetensors"}})");
  const auto handle = ModelHandle::open(index).value();
  ASSERT_EQ(handle.descriptors().size(), 3U);
  EXPECT_EQ(read_model(handle, {"print", "y"}).out, index + " file 4 yy\n");
  const std::vector<int> numbers{10, 11, 12};
  EXPECT_EQ(read_model(handle, numbers, {"print", "x"}, "10:12,11").err,
            "descriptor 12 is not '" + folder() + "/s-1.safetensors' of the model, but something else\n");
}

TEST_F(AttachModel, WhatTheVariableNames_IsNotTrusted) {
  const auto handle = ModelHandle::open(path_).value();
  const std::vector<int> numbers{10, 11};
  const auto said = [&](const std::string& variable) {
    return read_model(handle, numbers, {"print", "a"}, variable).err;
  };
  EXPECT_EQ(said("garbage"), "FORKLIFT_MODEL_FD is 'garbage', expected numbers of descriptors such as 5:6,7\n");
  EXPECT_EQ(said("400"), "cannot look at descriptor 400 of the model: Bad file descriptor\n");
  EXPECT_EQ(said("10:400"), "cannot look at descriptor 400 of the model: Bad file descriptor\n");
  EXPECT_EQ(said("10:10"), "descriptor 10 is not '" + path_ + "' of the model, but something else\n");
  EXPECT_EQ(said("11:10"), "the manifest of the model is damaged: it does not begin as one of this version does\n");
  EXPECT_EQ(said("10:11,12"), "2 descriptors were given for a model of 1 parts\n");
}

TEST_F(AttachModel, MemoryThatCouldShrink_IsRefused) {
  const auto copied = ModelHandle::open(path_, {.loading = ModelLoading::copy}).value();
  ModelLayout layout = decode_manifest(manifest_bytes(copied)).value();
  const Descriptor loose(::memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(loose.get(), 4096), 0);
  layout.parts[0].identity = weights::identity_of(loose.get(), PartKind::memfd).value();
  layout.parts[0].descriptor = loose.get();
  const Descriptor manifest = weights::sealed_memfd("manifest", encode_manifest(layout)).value();
  const auto refused = SharedModel::attach(manifest.get());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "descriptor " + std::to_string(loose.get()) + " is no sealed memory of a model");
  ASSERT_EQ(::fcntl(loose.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_TRUE(SharedModel::attach(manifest.get()).ok());
}

TEST_F(AttachModel, FileThatChangedSince_IsRefused) {
  const auto handle = ModelHandle::open(path_).value();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  EXPECT_EQ(read_model(handle, {"print", "a"}).err, "'" + path_ + "' has changed since the model was opened\n");
}

TEST_F(AttachModel, WithoutAModel_SaysSo) {
  ASSERT_EQ(std::getenv(ModelHandle::environment_name), nullptr);
  const auto model = SharedModel::from_environment();
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message,
            "FORKLIFT_MODEL_FD is not set: this program was not started with a model (forklift launch --model PATH)");
}

TEST_F(AttachModel, Access_IsTheHandlesUnlessItIsNarrowed) {
  const auto for_reading = ModelHandle::open(path_).value();
  EXPECT_TRUE(contains(read_model(for_reading, {"write", "a", "wxyz"}).err, "tensor 'a' is read-only"));
  EXPECT_EQ(read_model(for_reading, {"write-copy", "a", "wxyz"}).out, path_ + " file 6 wxyz\n");
  EXPECT_EQ(read_model(for_reading, {"print", "a"}).out, path_ + " file 6 abcd\n");

  const auto shared = ModelHandle::open(path_, {.access = ModelAccess::shared}).value();
  EXPECT_EQ(read_model(shared, {"write", "a", "wxyz"}).out, path_ + " memfd 6 wxyz\n");
  EXPECT_EQ(read_model(shared, {"print", "a"}).out, path_ + " memfd 6 wxyz\n") << "the next program sees it";

  const std::vector<int> numbers = for_reading.descriptors();
  const auto wider = SharedModel::attach(numbers[0], {}, ModelAccess::shared);
  ASSERT_FALSE(wider.ok());
  EXPECT_TRUE(contains(wider.error().message, "cannot be had as ModelAccess::shared")) << wider.error().message;
}

TEST_F(AttachModel, StoreInAnExecutedProgram_IsExplained) {
  if (address_sanitizer) GTEST_SKIP() << "an executed program has the sanitizer's own handler";
  const Ended ended = read_model(ModelHandle::open(path_).value(), {"store", "b"});
  EXPECT_EQ(ended.signal, SIGSEGV) << ended;
  EXPECT_TRUE(contains(ended.err, "a store into tensor 'b' (byte 1 of 2) of the model '" + path_ + "'")) << ended;
}

TEST_F(AttachModel, Descriptors_GoNoFurther) {
  const Ended ended = read_model(ModelHandle::open(path_).value(), {"inheritable"});
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(ended.out, "") << "after attaching, what this program starts inherits none of them";
}

TEST_F(AttachModel, Handle_MapsNothingAndClosesOnExec) {
  const auto handle = ModelHandle::open(path_).value();
  EXPECT_FALSE(is_mapped(path_));
  EXPECT_EQ(handle.path(), path_);
  EXPECT_EQ(handle.bytes(), 6U);
  EXPECT_EQ(handle.tensor_count(), 3U);
  EXPECT_EQ(handle.tied_groups(), (NameGroups{{"a", "tied"}}));
  EXPECT_EQ(handle.mapped_by(), "file");
  for (const int descriptor : handle.descriptors()) EXPECT_EQ(::fcntl(descriptor, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::pwrite(handle.descriptors()[0], "x", 1, 0), -1) << "the manifest is sealed";

  const auto copied = ModelHandle::open(path_, {.loading = ModelLoading::copy}).value();
  EXPECT_FALSE(is_mapped("forklift-model")) << "a copy is made without mapping it";
  EXPECT_EQ(text_of(copied.map().value().tensor("b").value()), "ef");
}

TEST_F(AttachModel, InTheSameProcess_ItIsAnotherMapping) {
  const auto handle = ModelHandle::open(path_).value();
  const auto first = SharedModel::attach(handle.descriptors()[0]).value();
  const auto second = SharedModel::attach(handle.descriptors()[0]).value();
  EXPECT_NE(first.tensor("a").value().bytes.data(), second.tensor("a").value().bytes.data());
  EXPECT_EQ(text_of(second.tensor("tied").value()), "abcd");
}

}  // namespace
}  // namespace forklift
