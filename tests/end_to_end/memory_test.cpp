// The two ends that a bare exit status hides: the kernel's OOM killer, and a full /dev/shm. Both need root, for a
// cgroup and for a mount of this test's own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "tests/end_to_end/job_test.hpp"
#include "tests/support/child_command.hpp"

namespace forklift {
namespace {

using support::child;
using support::Command;
using support::Ended;
using support::Json;
using support::Words;
using support::operator+;

/// A memory cgroup with a limit; not usable where the machine has none or lets us make none.
class LimitedCgroup {
 public:
  LimitedCgroup() {
    const std::string name = "forklift-test-" + std::to_string(::getpid());
    for (const char* mount : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
      std::error_code error;
      const std::filesystem::path group = std::filesystem::path(mount) / name;
      if (!std::filesystem::create_directory(group, error)) continue;
      group_ = group;
      limit_file_ = std::filesystem::exists(group / "memory.max") ? "memory.max" : "memory.limit_in_bytes";
      if (std::filesystem::exists(group / limit_file_)) return;
      leave();
    }
  }
  LimitedCgroup(const LimitedCgroup&) = delete;
  LimitedCgroup& operator=(const LimitedCgroup&) = delete;
  ~LimitedCgroup() { leave(); }

  [[nodiscard]] bool usable() const { return !group_.empty(); }
  /// For bash: sets the limit, goes in.
  [[nodiscard]] std::string entrance(const std::string& bytes) const {
    return "echo " + bytes + " > " + (group_ / limit_file_).string() + " && echo $$ > " +
           (group_ / "cgroup.procs").string() + " || exit 99";
  }

 private:
  void leave() {
    if (!group_.empty()) ::rmdir(group_.c_str());
    group_.clear();
  }
  std::filesystem::path group_;
  std::string limit_file_;
};

class MemoryEnd : public support::JobTest {};

TEST_F(MemoryEnd, KernelEndsAReplicaForMemory_IsOutOfMemory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a memory cgroup";
  const LimitedCgroup group;
  if (!group.usable()) GTEST_SKIP() << "this machine has no memory cgroup that we may divide";
  const Words job = Words{"--num-processes", "2"} + child("allocate", {"400"});

  const Ended ended = support::run(prepared_by(group.entrance("200M"), launch(job)));

  SCOPED_TRACE(::testing::Message() << ended);
  ASSERT_NE(ended.exit_code, 99) << "the cgroup could not be entered";
  EXPECT_EQ(ended.exit_code, 137);
  EXPECT_EQ(report()["root_cause"]["category"], "out_of_memory") << report().dump(2);
}

// Two replicas grow alike by 100 MiB a second: the warning comes before the end, and the report counts the copies. The
// look after 2 s sees the threat, 4 s after the start the limit is reached: a slow machine has time for its second
// look.
TEST_F(MemoryEnd, CopiesGrowTowardsTheLimit_AreWarnedOfAndNamedInTheReport) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a memory cgroup";
  const LimitedCgroup group;
  if (!group.usable()) GTEST_SKIP() << "this machine has no memory cgroup that we may divide";
  const Words job = Words{"--num-processes", "2"} + child("allocate", {"2000", "slowly"});

  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = support::run(prepared_by(group.entrance("800M"), launch(job)));

  SCOPED_TRACE(::testing::Message() << ended);
  ASSERT_NE(ended.exit_code, 99) << "the cgroup could not be entered";
  EXPECT_EQ(ended.exit_code, 137);
  if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(9)) {
    GTEST_SKIP() << "this machine gave out 800 MiB more slowly than the 10 s for which forklift looks at growth";
  }
  EXPECT_EQ(support::occurrences(ended.err, "forklift: warning: 2 replicas hold "), 1U);
  EXPECT_NE(ended.err.find("hold it once instead of 2 times (--model PATH"), std::string::npos);
  const Json cause = report()["root_cause"];
  EXPECT_EQ(cause["category"], "out_of_memory");
  EXPECT_NE(cause["summary"].dump().find("; 2 replicas held "), std::string::npos) << cause.dump(2);
  EXPECT_NE(cause["advice"].dump().find("If that is 2 copies of one model"), std::string::npos) << cause.dump(2);
}

TEST_F(MemoryEnd, MemoryCheckOff_SaysNothingBeforeTheEnd) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a memory cgroup";
  const LimitedCgroup group;
  if (!group.usable()) GTEST_SKIP() << "this machine has no memory cgroup that we may divide";
  const Words job = Words{"--memory-check", "off", "--num-processes", "2"} + child("allocate", {"2000", "slowly"});

  const Ended ended = support::run(prepared_by(group.entrance("600M"), launch(job)));

  SCOPED_TRACE(::testing::Message() << ended);
  ASSERT_NE(ended.exit_code, 99) << "the cgroup could not be entered";
  EXPECT_EQ(ended.exit_code, 137);
  EXPECT_EQ(ended.err.find("warning"), std::string::npos);
}

TEST_F(MemoryEnd, SharedMemoryIsFull_IsBusErrorSharedMemory) {
  if (!can_mount()) GTEST_SKIP() << "only root, outside of a chroot, can mount a small /dev/shm";
  const auto script = scratch().write("shm.py",
                                      "import mmap, os\n"
                                      "file = os.open('/dev/shm/batch', os.O_RDWR | os.O_CREAT)\n"
                                      "os.ftruncate(file, 16 << 20)\n"
                                      "batch = mmap.mmap(file, 16 << 20)\n"
                                      "batch[:] = bytes(16 << 20)\n");
  Command command = launch({"--python", "/usr/bin/python3", "--nproc-per-node", "1", script});
  command.argv =
      Words{"unshare", "-m", "bash", "-c", "mount -t tmpfs -o size=1m none /dev/shm || exit 99; \"$@\"", "bash"} +
      command.argv;

  const Ended ended = support::run(command);

  SCOPED_TRACE(::testing::Message() << ended);
  if (ended.exit_code == 99) GTEST_SKIP() << "no file system may be mounted here";
  if (ended.exit_code == 127) GTEST_SKIP() << "there is no /usr/bin/python3";
  EXPECT_EQ(ended.exit_code, 135);
  EXPECT_EQ(report()["root_cause"]["category"], "bus_error_shared_memory") << report().dump(2);
}

}  // namespace
}  // namespace forklift
