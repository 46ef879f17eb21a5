// Files that do not stay what they were.
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/model/model_test.hpp"

namespace forklift {
namespace {

using namespace support;

class ChangedModel : public ModelTest {
 protected:
  std::string path_ = write("m.safetensors", {bytes_tensor("a", 100000)});
  std::uintmax_t size_ = std::filesystem::file_size(path_);

  [[nodiscard]] std::string name() const { return "'" + path_ + "'"; }
  void expect(const SharedModel& model, const std::string& sentence) const {
    EXPECT_EQ(model.changed(), sentence);
    EXPECT_EQ(model.share().value().changed(), sentence);
  }
};

TEST_F(ChangedModel, UntouchedFile_IsNot) {
  EXPECT_EQ(opened(path_).changed(), std::nullopt);
  EXPECT_EQ(ModelHandle::open(path_).value().changed(), std::nullopt);
}

TEST_F(ChangedModel, ShrunkFile_IsToldWithBothSizes) {
  const SharedModel model = opened(path_);
  std::filesystem::resize_file(path_, 5000);
  expect(model, name() + " has shrunk from " + std::to_string(size_) +
                    " to 5000 bytes since it was opened: reading what is gone ends a process with SIGBUS");
}

TEST_F(ChangedModel, GrownFile_IsTold) {
  const SharedModel model = opened(path_);
  std::filesystem::resize_file(path_, size_ + 1);
  expect(model, name() + " has grown from " + std::to_string(size_) + " to " + std::to_string(size_ + 1) +
                    " bytes since it was opened");
}

TEST_F(ChangedModel, WrittenFile_IsToldByItsTime) {
  const SharedModel model = opened(path_);
  const timespec times[2] = {{0, UTIME_OMIT}, {1000000000, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  expect(
      model,
      name() + " was written to since it was opened: what the replicas see may be neither the old nor the new model");
}

TEST_F(ChangedModel, ReplacedOrRemovedFile_LeavesTheOldOneInUse) {
  const SharedModel model = opened(path_);
  std::filesystem::rename(write("new.safetensors", {bytes_tensor("a", 7)}), path_);
  expect(model, name() + " is another file since it was opened; the old one stays in use");
  EXPECT_EQ(model.tensor("a").value().bytes.size(), 100000U);
  EXPECT_EQ(text_of(model.tensor("a").value()), counting_bytes(100000));
  std::filesystem::remove(path_);
  expect(model, name() + " is gone since it was opened; the open one stays in use");
}

TEST_F(ChangedModel, Copy_IsIndependentOfItsFile) {
  const SharedModel model = opened(path_, {.loading = ModelLoading::copy});
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(model.changed(), std::nullopt);
  EXPECT_EQ(text_of(model.tensor("a").value()), counting_bytes(100000));
}

}  // namespace
}  // namespace forklift
