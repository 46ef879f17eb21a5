// What each access allows, and what reaches whom.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tests/model/model_test.hpp"

namespace forklift {
namespace {

using namespace support;

class ModelAccesses : public ModelTest {
 protected:
  std::string path_ = write("m.safetensors", {{"a", "U8", {4}, "abcd"}});
  [[nodiscard]] std::string on_disk() const {
    const std::string bytes = read_text(path_);
    return bytes.substr(bytes.size() - 4);
  }
};

void write_to(const SharedModel& model, std::string_view text) {
  const auto bytes = model.tensor("a").value().as_writable<std::uint8_t>().value();
  std::copy(text.begin(), text.end(), bytes.begin());
}

TEST_F(ModelAccesses, StoreIntoReadOnly_IsASegmentationFault) {
  for (const ModelLoading loading : {ModelLoading::map, ModelLoading::copy}) {
    const SharedModel model = opened(path_, {.loading = loading});
    const Ended ended = in_child([&] {
      const_cast<std::byte*>(model.tensor("a").value().bytes.data())[0] = std::byte{1};
      return 0;
    });
    EXPECT_EQ(ended.signal, SIGSEGV) << ended;
    EXPECT_EQ(text_of(model.tensor("a").value()), "abcd");
  }
}

TEST_F(ModelAccesses, CopyOnWrite_StaysWithItsProcess) {
  for (const ModelLoading loading : {ModelLoading::map, ModelLoading::copy}) {
    const SharedModel model = opened(path_, {.access = ModelAccess::copy_on_write, .loading = loading});
    const Ended ended = in_child([&] {
      write_to(model, "child");
      return text_of(model.tensor("a").value()) == "chil" ? 0 : 1;
    });
    EXPECT_EQ(ended.exit_code, 0) << ended;
    EXPECT_EQ(text_of(model.tensor("a").value()), "abcd");
    write_to(model, "mine");
    EXPECT_EQ(text_of(opened(path_).tensor("a").value()), "abcd");
    EXPECT_EQ(on_disk(), "abcd");
  }
}

TEST_F(ModelAccesses, Shared_IsSeenByAllAndNeverOnDisk) {
  for (const ModelLoading loading : {ModelLoading::map, ModelLoading::copy}) {
    const SharedModel model = opened(path_, {.access = ModelAccess::shared, .loading = loading});
    EXPECT_EQ(model.mapped_by(), "memfd");
    const Ended ended = in_child([&] {
      write_to(model, "from");
      return 0;
    });
    EXPECT_EQ(ended.exit_code, 0) << ended;
    EXPECT_EQ(text_of(model.tensor("a").value()), "from");
    EXPECT_EQ(on_disk(), "abcd");
  }
}

TEST_F(ModelAccesses, WritableBytes_AreRefusedWhereTheyAreReadOnly) {
  const SharedModel model = opened(path_);
  const TensorView tensor = model.tensor("a").value();
  const auto refused = tensor.as_writable<std::uint8_t>();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "tensor 'a' is read-only: open the model with ModelAccess::copy_on_write (changes stay in this process) or "
            "ModelAccess::shared (all replicas see them)");
  const SharedModel shared = opened(path_, {.access = ModelAccess::shared});
  EXPECT_FALSE(shared.tensor("a").value().as_writable<float>().ok());
}

/// The seals, without the one against executing it, which older kernels do not have.
int seals_of(int part) {
  return ::fcntl(part, F_GET_SEALS) & (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int part_of(const SharedModel& model) { return model.share().value().descriptors().at(1); }

TEST_F(ModelAccesses, CopyForReading_CannotBeChangedByAnybody) {
  for (const ModelAccess access : {ModelAccess::read, ModelAccess::copy_on_write}) {
    const SharedModel model = opened(path_, {.access = access, .loading = ModelLoading::copy});
    const int part = part_of(model);
    EXPECT_EQ(seals_of(part), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    EXPECT_EQ(::pwrite(part, "x", 1, 0), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(::ftruncate(part, 0), -1);
    EXPECT_EQ(::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, part, 0), MAP_FAILED);
  }
}

TEST_F(ModelAccesses, SharedCopy_KeepsItsSize) {
  const SharedModel model = opened(path_, {.access = ModelAccess::shared});
  const int part = part_of(model);
  EXPECT_EQ(seals_of(part), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
  EXPECT_EQ(::ftruncate(part, 0), -1) << "which would be a SIGBUS for all";
  EXPECT_EQ(::pwrite(part, "X", 1, 0), 1);
  EXPECT_EQ(text_of(model.tensor("a").value()), "Xbcd");
}

TEST_F(ModelAccesses, Fork_KeepsTheAddress) {
  const SharedModel model = opened(path_);
  const auto* const address = model.tensor("a").value().bytes.data();
  const Ended ended = in_child([&] {
    const TensorView tensor = model.tensor("a").value();
    return tensor.bytes.data() == address && text_of(tensor) == "abcd" ? 0 : 1;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

}  // namespace
}  // namespace forklift
