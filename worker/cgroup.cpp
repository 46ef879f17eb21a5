#include "worker/cgroup.hpp"

#include <algorithm>

#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

/// Version 1 writes "unlimited" as the largest number of whole pages.
constexpr std::uint64_t v1_unlimited = std::uint64_t{1} << 62U;

bool list_contains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (next_field(list, ",") == word) return true;
  }
  return false;
}

struct Membership {
  CgroupVersion version = CgroupVersion::v2;
  std::string_view path;
};

// Lines "4:memory:/a/b" (version 1) and "0::/a/b" (version 2). With both, a controller belongs to the one that names
// it.
std::optional<Membership> find_membership(std::string_view table, std::string_view controller) {
  std::optional<Membership> found;
  for_each_line(table, [&](std::string_view line) {
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return Scan::go_on;
    const auto controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) {
      found = Membership{CgroupVersion::v2, line.substr(second + 1)};
    } else if (list_contains(controllers, controller)) {
      found = Membership{CgroupVersion::v1, line.substr(second + 1)};
      return Scan::stop;
    }
    return Scan::go_on;
  });
  return found;
}

// mountinfo writes blanks and backslashes of a path as octal numbers.
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char digit) { return digit >= '0' && digit <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
                        is_octal(text[i + 3]);
    if (!escape) {
      plain.push_back(text[i]);
      continue;
    }
    plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
    i += 3;
  }
  return plain;
}

struct Mount {
  std::string root;   ///< The directory of the hierarchy that is mounted.
  std::string point;  ///< Where it is mounted.
};

// "36 35 98:0 /root /point rw,noatime master:1 - cgroup cgroup rw,memory"
std::optional<Mount> find_mount(std::string_view mounts, CgroupVersion version, std::string_view controller) {
  std::optional<Mount> found;
  for_each_line(mounts, [&](std::string_view line) {
    const auto separator = line.find(" - cgroup");
    if (separator == std::string_view::npos) return Scan::go_on;
    std::string_view tail = line.substr(separator + 3);
    const auto type = next_field(tail);
    next_field(tail);  // source
    const auto options = next_field(tail);
    const bool matches =
        version == CgroupVersion::v2 ? type == "cgroup2" : type == "cgroup" && list_contains(options, controller);
    if (!matches) return Scan::go_on;
    for (int skipped = 0; skipped < 3; ++skipped) next_field(line);
    std::string root = unescaped(next_field(line));
    found = Mount{std::move(root), unescaped(next_field(line))};
    return Scan::stop;
  });
  return found;
}

// The group's path below the mount point. In a container the mount shows only a part of the hierarchy, and a path
// outside that part is written with "..": then the mount point is all that we can see of our own group.
std::string path_below(const Mount& mount, std::string_view path) {
  if (mount.root != "/") {
    if (!path.starts_with(mount.root)) return {};
    path.remove_prefix(mount.root.size());
  }
  if (!path.starts_with('/') || path == "/" || path.find("/..") != std::string_view::npos) return {};
  return std::string(path);
}

std::optional<double> quota_at(const std::string& level, CgroupVersion version) {
  std::optional<std::uint64_t> quota;
  std::optional<std::uint64_t> period;
  switch (version) {
    case CgroupVersion::v1:
      quota = read_kernel_number(level + "/cpu.cfs_quota_us");  // -1: unlimited, which is no unsigned number.
      period = read_kernel_number(level + "/cpu.cfs_period_us");
      break;
    case CgroupVersion::v2: {
      const auto text = read_kernel_file(level + "/cpu.max");
      std::string_view fields = text ? std::string_view(*text) : std::string_view();
      quota = parse_number(next_field(fields, " \n"));
      period = parse_number(next_field(fields, " \n"));
      break;
    }
  }
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// The names of what a level of the memory controller tells.
struct MemoryFiles {
  const char* limit;
  const char* use;
  std::string_view files[2];  ///< Keys of memory.stat: pages of files, on both lists of the kernel.
};

MemoryFiles memory_files(CgroupVersion version) {
  if (version == CgroupVersion::v1) {
    return {"/memory.limit_in_bytes", "/memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
  }
  return {"/memory.max", "/memory.current", {"inactive_file", "active_file"}};
}

std::optional<std::uint64_t> room_at(const std::string& level, const MemoryFiles& names) {
  const auto limit = read_kernel_number(level + names.limit);
  const auto use = read_kernel_number(level + names.use);
  if (!limit || !use || *limit >= v1_unlimited) return std::nullopt;
  const std::string stat = read_kernel_file(level + "/memory.stat").value_or("");
  std::uint64_t of_files = 0;
  for (const std::string_view key : names.files) of_files += number_of_key(stat, key).value_or(0);
  const std::uint64_t held = *use - std::min(*use, of_files);
  return *limit - std::min(*limit, held);
}

template <class T>
void keep_smaller(std::optional<T>& smallest, const std::optional<T>& candidate) {
  if (candidate && (!smallest || *candidate < *smallest)) smallest = candidate;
}

}  // namespace

CgroupTables read_cgroup_tables() {
  return {read_kernel_file("/proc/self/cgroup").value_or(""), read_kernel_file("/proc/self/mountinfo").value_or("")};
}

std::optional<Cgroup> locate_cgroup(const CgroupTables& tables, std::string_view controller) {
  const auto membership = find_membership(tables.membership, controller);
  if (!membership) return std::nullopt;
  const auto mount = find_mount(tables.mounts, membership->version, controller);
  if (!mount) return std::nullopt;
  Cgroup group{membership->version, {}};
  std::string below = path_below(*mount, membership->path);
  while (!below.empty()) {
    group.levels.push_back(mount->point + below);
    below.resize(below.rfind('/'));
  }
  group.levels.push_back(mount->point);
  return group;
}

std::optional<std::uint64_t> memory_limit(const Cgroup& memory) {
  const char* const name = memory_files(memory.version).limit;
  std::optional<std::uint64_t> tightest;
  for (const std::string& level : memory.levels) keep_smaller(tightest, read_kernel_number(level + name));
  return tightest && *tightest >= v1_unlimited ? std::nullopt : tightest;
}

std::optional<std::uint64_t> memory_room(const Cgroup& memory) {
  std::optional<std::uint64_t> least;
  for (const std::string& level : memory.levels) keep_smaller(least, room_at(level, memory_files(memory.version)));
  return least;
}

std::optional<double> cpu_quota(const Cgroup& cpu) {
  std::optional<double> tightest;
  for (const std::string& level : cpu.levels) keep_smaller(tightest, quota_at(level, cpu.version));
  return tightest;
}

std::optional<std::uint64_t> oom_kills(const Cgroup& memory) {
  const char* const name = memory.version == CgroupVersion::v1 ? "/memory.oom_control" : "/memory.events";
  const auto text = read_kernel_file(memory.levels.front() + name);
  return text ? number_of_key(*text, "oom_kill") : std::nullopt;
}

bool has_oom_group(const Cgroup& memory) {
  return memory.version == CgroupVersion::v2 &&
         std::any_of(memory.levels.begin(), memory.levels.end(), [](const std::string& level) {
           return read_kernel_number(level + "/memory.oom.group") == std::uint64_t{1};
         });
}

}  // namespace forklift
