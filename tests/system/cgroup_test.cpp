#include "worker/cgroup.hpp"

#include <gtest/gtest.h>

#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

using support::TemporaryDirectory;
using Levels = std::vector<std::string>;

constexpr const char* v2_mount = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mounts =
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

struct Located {
  const char* what;
  CgroupTables tables;
  const char* controller;
  CgroupVersion version;
  Levels levels;  ///< Empty: not found.
};

TEST(CgroupLocation, OwnDirectoryAndItsVisibleAncestors) {
  const Located table[] = {
      {"version 2",
       {"0::/user.slice/job\n", v2_mount},
       "memory",
       CgroupVersion::v2,
       {"/sys/fs/cgroup/user.slice/job", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"}},
      {"version 2, container with its own namespace",
       {"0::/\n", v2_mount},
       "cpu",
       CgroupVersion::v2,
       {"/sys/fs/cgroup"}},
      {"version 2, group outside of what is visible",
       {"0::/../../other\n", v2_mount},
       "cpu",
       CgroupVersion::v2,
       {"/sys/fs/cgroup"}},
      {"version 1, controllers that share a mount",
       {"5:cpu,cpuacct:/a\n4:memory:/b\n0::/c\n", v1_mounts},
       "cpu",
       CgroupVersion::v1,
       {"/sys/fs/cgroup/cpu,cpuacct/a", "/sys/fs/cgroup/cpu,cpuacct"}},
      {"version 1 beside version 2",
       {"0::/c\n4:memory:/b\n", v1_mounts},
       "memory",
       CgroupVersion::v1,
       {"/sys/fs/cgroup/memory/b", "/sys/fs/cgroup/memory"}},
      {"the unified hierarchy beside version 1",
       {"4:memory:/b\n0::/c\n", v1_mounts},
       "",
       CgroupVersion::v2,
       {"/sys/fs/cgroup/unified/c", "/sys/fs/cgroup/unified"}},
      {"container that sees a part of version 1",
       {"4:memory:/docker/abc/job\n",
        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro master:1 - cgroup cgroup rw,memory\n"},
       "memory",
       CgroupVersion::v1,
       {"/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/memory"}},
      {"container whose name begins like another's",
       {"4:memory:/docker/abcdef\n", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"},
       "memory",
       CgroupVersion::v1,
       {"/sys/fs/cgroup/memory"}},
      {"mount point with a blank",
       {"0::/\n", "31 23 0:28 / /mnt/my\\040groups rw - cgroup2 none rw\n"},
       "memory",
       CgroupVersion::v2,
       {"/mnt/my groups"}},
      {"not mounted", {"0::/\n", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"}, "memory", CgroupVersion::v2, {}},
      {"no control groups at all", {"", ""}, "memory", CgroupVersion::v2, {}},
      {"damaged tables", {"nonsense\n:\n", " - cgroup2\n - cgroup\n\n"}, "memory", CgroupVersion::v2, {}},
  };
  for (const Located& row : table) {
    const auto found = locate_cgroup(row.tables, row.controller);
    ASSERT_EQ(found.has_value(), !row.levels.empty()) << row.what;
    if (!found) continue;
    EXPECT_EQ(found->version, row.version) << row.what;
    EXPECT_EQ(found->levels, row.levels) << row.what;
  }
}

/// Two levels of a group in a directory.
class CgroupLimits : public support::LeakChecked {
 protected:
  Cgroup group(CgroupVersion version) const { return {version, {(directory_ / "job").string(), directory_.path()}}; }
  void write(const std::string& name, const std::string& own, const std::string& parent) const {
    directory_.write("job/" + name, own);
    directory_.write(name, parent);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(CgroupLimits, MemoryOfVersion2_IsTheTightestLevel) {
  const auto v2 = group(CgroupVersion::v2);
  EXPECT_FALSE(memory_limit(v2)) << "no file at all";
  write("memory.max", "max\n", "max\n");
  EXPECT_FALSE(memory_limit(v2));
  write("memory.max", "max\n", "1073741824\n");
  EXPECT_EQ(memory_limit(v2), 1U << 30U);
  write("memory.max", "4096\n", "1073741824\n");
  EXPECT_EQ(memory_limit(v2), 4096U);
}

TEST_F(CgroupLimits, MemoryOfVersion1_KnowsItsWordForUnlimited) {
  const auto v1 = group(CgroupVersion::v1);
  write("memory.limit_in_bytes", "9223372036854771712\n", "9223372036854771712\n");
  EXPECT_FALSE(memory_limit(v1));
  write("memory.limit_in_bytes", "9223372036854771712\n", "536870912\n");
  EXPECT_EQ(memory_limit(v1), 512U << 20U);
}

TEST_F(CgroupLimits, RoomOfVersion2_CountsPagesOfFilesAsFree) {
  const auto v2 = group(CgroupVersion::v2);
  EXPECT_FALSE(memory_room(v2)) << "no file at all";
  write("memory.max", "max\n", "1000000\n");
  EXPECT_FALSE(memory_room(v2)) << "use is not known";
  write("memory.current", "700000\n", "900000\n");
  EXPECT_EQ(memory_room(v2), 100'000U) << "no memory.stat";
  write("memory.stat", "anon 1\n", "anon 500000\ninactive_file 250000\nactive_file 50000\nshmem 100000\n");
  EXPECT_EQ(memory_room(v2), 400'000U);
}

TEST_F(CgroupLimits, Room_IsTheLeastOfAllLevelsAndNotThatOfTheTightestLimit) {
  const auto v2 = group(CgroupVersion::v2);
  write("memory.max", "1000\n", "2000\n");
  write("memory.current", "100\n", "1950\n");
  EXPECT_EQ(memory_room(v2), 50U);
  write("memory.current", "100\n", "2100\n");
  EXPECT_EQ(memory_room(v2), 0U) << "a limit that was lowered";
  write("memory.stat", "", "inactive_file 5000\n");
  EXPECT_EQ(memory_room(v2), 900U) << "more pages of files than use, in a file that is read a moment later";
}

TEST_F(CgroupLimits, RoomOfVersion1_HasNamesOfItsOwn) {
  const auto v1 = group(CgroupVersion::v1);
  write("memory.limit_in_bytes", "9223372036854771712\n", "1000\n");
  write("memory.usage_in_bytes", "900\n", "900\n");
  write("memory.stat", "", "inactive_file 0\ntotal_inactive_file 100\ntotal_active_file 200\n");
  EXPECT_EQ(memory_room(v1), 400U);
}

TEST_F(CgroupLimits, CpuQuota_IsTheTightestLevel) {
  const auto v2 = group(CgroupVersion::v2);
  EXPECT_FALSE(cpu_quota(v2));
  write("cpu.max", "max 100000\n", "max 100000\n");
  EXPECT_FALSE(cpu_quota(v2));
  write("cpu.max", "250000 100000\n", "150000 100000\n");
  EXPECT_EQ(cpu_quota(v2), 1.5);
  const auto v1 = group(CgroupVersion::v1);
  write("cpu.cfs_period_us", "100000\n", "50000\n");
  write("cpu.cfs_quota_us", "-1\n", "-1\n");
  EXPECT_FALSE(cpu_quota(v1));
  write("cpu.cfs_quota_us", "-1\n", "200000\n");
  EXPECT_EQ(cpu_quota(v1), 4.0);
  write("cpu.cfs_period_us", "0\n", "0\n");
  EXPECT_FALSE(cpu_quota(v1)) << "a period of nothing";
}

TEST_F(CgroupLimits, OomKills_AreThoseOfOurOwnGroup) {
  const auto v2 = group(CgroupVersion::v2);
  EXPECT_FALSE(oom_kills(v2));
  write("memory.events", "low 0\nhigh 0\nmax 12\noom 4\noom_kill 3\noom_group_kill 1\n", "oom_kill 99\n");
  EXPECT_EQ(oom_kills(v2), 3U);
  write("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", "");
  EXPECT_EQ(oom_kills(group(CgroupVersion::v1)), 2U);
}

TEST_F(CgroupLimits, OomGroup_OfAnyLevelTakesUsAlong) {
  const auto v2 = group(CgroupVersion::v2);
  EXPECT_FALSE(has_oom_group(v2));
  write("memory.oom.group", "0\n", "0\n");
  EXPECT_FALSE(has_oom_group(v2));
  write("memory.oom.group", "0\n", "1\n");
  EXPECT_TRUE(has_oom_group(v2));
  EXPECT_FALSE(has_oom_group(group(CgroupVersion::v1)));
}

}  // namespace
}  // namespace forklift
