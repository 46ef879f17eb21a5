// Copies: what is in them, where they lie, and what refuses them.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tests/model/model_test.hpp"
#include "worker/model/fill.hpp"
#include "worker/model/memory_room.hpp"

namespace forklift {
namespace {

using namespace support;

const ModelOptions copied{.loading = ModelLoading::copy};

class CopyModel : public ModelTest {
 protected:
  /// A file of more than one slice, for more than one thread.
  [[nodiscard]] std::string write_large() const {
    return write("large.safetensors", {bytes_tensor("a", 5), bytes_tensor("b", large_bytes), floats("c", {1})});
  }
  /// A file of 40 MiB of zeros that no disk holds.
  [[nodiscard]] std::string write_sparse() const { return write_zeros("sparse.safetensors", std::uint64_t{40} << 20U); }

  static constexpr std::size_t large_bytes = (std::size_t{20} << 20U) + 3;
  std::string small_ = write("small.safetensors", {bytes_tensor("a", 100)});
};

TEST_F(CopyModel, EveryByte_IsTheFiles) {
  const std::string large = write_large();
  const SharedModel mapped = opened(large);
  std::vector<CopyProgress> told;
  const SharedModel copy = opened(large, {.loading = ModelLoading::copy,
                                          .observer = [&](const CopyProgress& progress) { told.push_back(progress); }});
  ASSERT_EQ(copy.tensors().size(), mapped.tensors().size());
  for (std::size_t i = 0; i < mapped.tensors().size(); ++i) {
    const TensorView a = mapped.tensors()[i];
    const TensorView b = copy.tensors()[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_TRUE(std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end())) << a.name;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.bytes.data()) % 64, 0U);
  }
  EXPECT_EQ(copy.mapped_by(), "memfd");
  EXPECT_EQ(copy.path(), large);
  EXPECT_EQ(copy.bytes(), mapped.bytes());
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().copied_bytes, mapped.bytes());
  EXPECT_EQ(told.back().total_bytes, mapped.bytes());
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_GE(told[i].copied_bytes, told[i - 1].copied_bytes);
}

TEST_F(CopyModel, ProgressLine_IsForTerminals) {
  EXPECT_FALSE(progress_line("x")) << "stderr of a test is none";
  RunningProcess terminal({.argv = {FORKLIFT_MODEL_PROGRESS}, .streams = Streams::terminal});
  EXPECT_EQ(terminal.wait().out,
            "\rforklift: bert: 1.0 GiB of 4.0 GiB, 512.0 MiB/s"
            "\rforklift: bert: 4.0 GiB of 4.0 GiB, 1.0 GiB/s  \r\n");
}

TEST_F(CopyModel, FileWrittenMeanwhile_IsRefused) {
  const auto touch = [&](const CopyProgress&) {
    const timespec times[2] = {{0, UTIME_OMIT}, {1000000000, 0}};
    ::utimensat(AT_FDCWD, small_.c_str(), times, 0);
  };
  EXPECT_TRUE(contains(refusal(small_, {.loading = ModelLoading::copy, .observer = touch}),
                       "while it was copied: '" + small_ + "' was written to since it was opened"));
}

TEST_F(CopyModel, SourceThatEnds_IsAnErrorOfItsRun) {
  const int file = ::open(small_.c_str(), O_RDONLY | O_CLOEXEC);
  const int copy = ::memfd_create("copy", MFD_CLOEXEC);
  const auto failure = weights::fill(copy, {{file, 0, nullptr, 0, 10}, {file, 50, nullptr, 10, 100000}}, {});
  ::close(file);
  ::close(copy);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->run, 1U);
  EXPECT_EQ(failure->side, weights::FillFailure::Side::source_ended);
}

TEST_F(CopyModel, WithoutThreads_IsCopiedAllTheSame) {
  const std::string large = write_large();
  const Ended ended = in_child([&] {
    deny_system_call(SYS_clone3, EAGAIN);
    deny_system_call(SYS_clone, EAGAIN);
    const SharedModel model = opened(large, copied);
    return model.tensor("b").value().bytes[1000] == std::byte{1000 & 0xFF} ? 0 : 1;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

// ---- huge pages ----

bool may_mount() { return ::geteuid() == 0; }

TEST_F(CopyModel, HugePages_AreUsedAndCannotBeWritten) {
  if (!may_mount()) GTEST_SKIP() << "huge pages need CAP_SYS_ADMIN";
  const SharedModel model = opened(
      write_large(), {.loading = ModelLoading::copy, .prefault = Prefault::yes, .huge_pages = HugePages::always});
  EXPECT_EQ(model.mapped_by(), "huge tmpfs");
  EXPECT_EQ(text_of(model.tensor("b").value()), counting_bytes(large_bytes));
  EXPECT_GE(mapping_bytes(model.tensor("b").value().bytes.data(), "ShmemPmdMapped"), std::uint64_t{18} << 20U);

  const int part = model.share().value().descriptors()[1];
  EXPECT_EQ(::fcntl(part, F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_EQ(::pwrite(part, "x", 1, 0), -1);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, part, 0), MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
}

TEST_F(CopyModel, HugePages_WritableWhereShared) {
  if (!may_mount()) GTEST_SKIP() << "huge pages need CAP_SYS_ADMIN";
  const SharedModel model = opened(small_, {.access = ModelAccess::shared, .huge_pages = HugePages::always});
  EXPECT_EQ(model.mapped_by(), "huge tmpfs");
  model.tensor("a").value().writable_bytes().value()[0] = std::byte{77};
  EXPECT_EQ(model.tensor("a").value().bytes[0], std::byte{77});
}

TEST_F(CopyModel, HugePages_WithoutPermissionAreRefusedOnlyWhereDemanded) {
  const Ended ended = in_child([&] {
    deny_system_call(SYS_fsopen, EPERM);
    const std::string said = refusal(small_, {.loading = ModelLoading::copy, .huge_pages = HugePages::always});
    if (said != "no huge pages for the model: fsopen: Operation not permitted (they need CAP_SYS_ADMIN and Linux 5.2)")
      return 1;
    return opened(small_, copied).mapped_by() == "memfd" ? 0 : 2;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

// ---- folders ----

TEST_F(CopyModel, CopyFolder_HoldsANamelessFile) {
  const SharedModel model = opened(small_, {.loading = ModelLoading::copy, .copy_folder = "/dev/shm"});
  EXPECT_EQ(model.mapped_by(), "tmpfs");
  EXPECT_EQ(text_of(model.tensor("a").value()), counting_bytes(100));
  const int part = model.share().value().descriptors()[1];
  EXPECT_EQ(::fcntl(part, F_GETFL) & O_ACCMODE, O_RDONLY);
  struct stat status {};
  ASSERT_EQ(::fstat(part, &status), 0);
  EXPECT_EQ(status.st_nlink, 0U);
}

TEST_F(CopyModel, FolderThatIsNoTmpfs_IsRefused) {
  EXPECT_TRUE(
      contains(refusal(small_, {.loading = ModelLoading::copy, .copy_folder = "/proc"}), "'/proc' is no tmpfs"));
  EXPECT_EQ(refusal(small_, {.loading = ModelLoading::copy, .copy_folder = "/nonexistent"}),
            "cannot open the folder '/nonexistent': No such file or directory");
}

TEST_F(CopyModel, FolderWithoutRoom_IsRefusedBeforeTheCopy) {
  const std::string sparse = write_sparse();
  if (!may_mount()) GTEST_SKIP() << "mounting needs root";
  const std::string mount = folder() + "/shm";
  std::filesystem::create_directory(mount);
  const Ended ended = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 1;
    if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=1m") != 0) return 2;
    const std::string said = refusal(sparse, {.loading = ModelLoading::copy, .copy_folder = mount});
    ::write(STDOUT_FILENO, said.data(), said.size());
    return opened(small_, {.loading = ModelLoading::copy, .copy_folder = mount}).mapped_by() == "tmpfs" ? 0 : 3;
  });
  if (ended.exit_code == 1) GTEST_SKIP() << "no mounts of our own here: a chroot whose root is no mount point";
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_TRUE(contains(ended.out, "a copy of '" + sparse + "' needs 40.0 MiB, but '" + mount + "' has 1.0 MiB free"))
      << ended;
}

// ---- limits ----

TEST_F(CopyModel, LimitOfFileSizes_IsAnErrorAndNoSignal) {
  const std::string sparse = write_sparse();
  const Ended ended = in_child([&] {
    const rlimit limit{std::uint64_t{1} << 20U, std::uint64_t{1} << 20U};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string said = refusal(sparse, copied);
    ::write(STDOUT_FILENO, said.data(), said.size());
    return opened(small_, copied).mapped_by() == "memfd" && opened(sparse).mapped_by() == "file" ? 0 : 1;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(ended.out, "a copy of '" + sparse +
                           "' needs 40.0 MiB, but the limit of file sizes (ulimit -f), which counts for "
                           "shared memory too, is 1.0 MiB");
}

TEST_F(CopyModel, LimitOfAddressSpace_IsNamed) {
  const std::string sparse = write_sparse();
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer needs more addresses than any limit leaves";
  const Ended ended = in_child([&] {
    const rlimit limit{std::uint64_t{32} << 20U, std::uint64_t{32} << 20U};
    ::setrlimit(RLIMIT_AS, &limit);
    const std::string said = refusal(sparse);
    ::write(STDOUT_FILENO, said.data(), said.size());
    return 0;
  });
  EXPECT_EQ(ended.out, "cannot map the 40.0 MiB of '" + sparse +
                           "': Cannot allocate memory; the limit of address space (ulimit "
                           "-v) is 32.0 MiB");
}

TEST_F(CopyModel, WithoutMemfd_TheSentenceSaysWhatIsMissing) {
  const struct {
    int os_errno;
    const char* reason;
  } table[] = {{ENOSYS, "this kernel has no memfd_create (Linux 3.17)"},
               {EPERM, "memfd_create is denied, by a seccomp filter or a security module"}};
  for (const auto& row : table) {
    const Ended ended = in_child([&] {
      deny_system_call(SYS_memfd_create, row.os_errno);
      const std::string said = refusal(small_, copied);
      ::write(STDOUT_FILENO, said.data(), said.size());
      const bool others =
          opened(small_).mapped_by() == "file" &&
          opened(small_, {.loading = ModelLoading::copy, .copy_folder = "/dev/shm"}).mapped_by() == "tmpfs";
      return others && !ModelHandle::open(small_).ok() ? 0 : 1;
    });
    EXPECT_EQ(ended.exit_code, 0) << ended;
    EXPECT_EQ(ended.out, std::string("no shared memory for the model: ") + row.reason +
                             "; map its file (ModelLoading::map), or name a folder on a tmpfs for the copy "
                             "(ModelOptions::copy_folder)");
  }
}

class Room : public ModelTest {};

TEST_F(Room, Machine_CountsSwap) {
  const auto room = weights::machine_room("MemTotal:  9 kB\nMemAvailable:    1000 kB\nSwapFree:  24 kB\n");
  ASSERT_TRUE(room);
  EXPECT_EQ(room->bytes, 1024U * 1024);
  EXPECT_FALSE(weights::machine_room("MemTotal: 9 kB\n"));
}

TEST_F(Room, Cgroups_CountTheirPageCacheAsFree) {
  const auto write_level = [&](const std::string& level, const char* limit_name, const char* limit,
                               const char* usage_name) {
    write_bytes(level + limit_name, limit);
    write_bytes(level + usage_name, "700\n");
    write_bytes(level + "/memory.stat",
                "anon 300\nfile 400\nactive_file 100\ninactive_file 250\ntotal_active_file 1\n"
                "total_inactive_file 2\n");
  };
  write_level("v2", "/memory.max", "1000\n", "/memory.current");
  write_level("v2/inner", "/memory.max", "max\n", "/memory.current");
  const auto v2 = weights::cgroup_room({CgroupVersion::v2, {folder() + "/v2/inner", folder() + "/v2"}});
  ASSERT_EQ(v2.size(), 1U) << "a level without a limit limits nothing";
  EXPECT_EQ(v2[0].bytes, 1000U - (700 - 350));
  EXPECT_EQ(v2[0].limited_by, "the control group's limit " + folder() + "/v2/memory.max (1000 B)");

  write_level("v1", "/memory.limit_in_bytes", "600\n", "/memory.usage_in_bytes");
  const auto v1 = weights::cgroup_room({CgroupVersion::v1, {folder() + "/v1"}});
  ASSERT_EQ(v1.size(), 1U);
  EXPECT_EQ(v1[0].bytes, 0U) << "more is used than is allowed";
}

TEST_F(Room, TightestRoom_DecidesAndIsNamed) {
  const std::vector<weights::MemoryRoom> rooms{{5000, "the machine"}, {3000, "the group"}};
  EXPECT_TRUE(weights::check_room(3000, rooms, "a copy").ok());
  EXPECT_TRUE(weights::check_room(3000, {}, "a copy").ok()) << "nobody knows";
  const auto refused = weights::check_room(4096, rooms, "a copy of 'm'");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "a copy of 'm' needs 4.0 KiB of memory, but the group leaves 2.9 KiB");
  EXPECT_EQ(refused.error().kind, ErrorKind::system);
}

TEST_F(Room, ThisMachine_HasSome) {
  const auto rooms = weights::read_memory_room();
  ASSERT_FALSE(rooms.empty());
  for (const auto& room : rooms) EXPECT_GT(room.bytes, 0U) << room.limited_by;
}

// A sparse file larger than any machine: nothing of it is read.
TEST_F(Room, ModelLargerThanTheMachine_IsMappedButNotCopied) {
  constexpr std::uint64_t size = std::uint64_t{1} << 43U;
  const std::string path = write_zeros("vast.safetensors", size);
  EXPECT_TRUE(contains(refusal(path, copied), "a copy of '" + path + "' needs 8.0 TiB of memory, but "))
      << refusal(path, copied);
  EXPECT_EQ(ModelHandle::open(path).value().bytes(), size);
  if (!address_sanitizer) {
    EXPECT_EQ(opened(path).tensor("zeros").value().bytes[size - 1], std::byte{0});
  }
}

}  // namespace
}  // namespace forklift
