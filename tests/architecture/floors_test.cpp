// The floors of ARCHITECTURE.md as a test: reads every #include of the tree and fails on one that goes up, on a
// third-party header in the public floor, and on a system call, clock or Asio header inside a thinking folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

enum class Kind { values, thinking, doing };

struct Folder {
  std::string path;  ///< From the root of the repository.
  int floor;
  Kind kind;
};

// Longest path first, so that the first match is the folder itself.
const std::vector<Folder> folders = {
    {"include/forklift", 0, Kind::values},
    {"worker/format", 1, Kind::thinking},
    {"worker/tying", 1, Kind::thinking},
    {"launcher/request", 2, Kind::thinking},
    {"launcher/estimate", 2, Kind::thinking},
    {"launcher/plan", 2, Kind::thinking},
    {"launcher/policy", 2, Kind::thinking},
    {"launcher/diagnose", 2, Kind::thinking},
    {"launcher/report", 2, Kind::thinking},
    {"launcher/output", 2, Kind::thinking},
    {"launcher/system", 3, Kind::doing},
    {"worker/host", 3, Kind::doing},
    {"worker/model", 3, Kind::doing},
    {"worker", 3, Kind::doing},
    {"launcher/supervise", 4, Kind::doing},
    {"launcher/command", 5, Kind::doing},
    {"launcher", 5, Kind::doing},
};

const Folder* folder_of(const std::string& path) {
  for (const Folder& folder : folders) {
    if (path.starts_with(folder.path + "/")) return &folder;
  }
  return nullptr;
}

struct Include {
  fs::path file;
  int line;
  std::string target;
};

std::vector<Include> includes_of(const fs::path& file) {
  static const std::regex directive(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> found;
  std::ifstream text(file);
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, directive)) found.push_back({file, number, match[2]});
  }
  return found;
}

std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const char* top : {"include", "worker", "launcher"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FORKLIFT_SOURCE_DIR) / top)) {
      const auto extension = entry.path().extension();
      if (extension == ".hpp" || extension == ".cpp") found.push_back(entry.path());
    }
  }
  return found;
}

std::string from_root(const fs::path& file) { return fs::relative(file, FORKLIFT_SOURCE_DIR).generic_string(); }

std::string at(const Include& include) {
  return from_root(include.file) + ":" + std::to_string(include.line) + " includes " + include.target;
}

/// The path from the repository's root that an include of ours stands for.
std::string root_path(const std::string& target) {
  return target.starts_with("forklift/") ? "include/" + target : target;
}

bool is_ours(const std::string& target) {
  return target.starts_with("forklift/") || target.starts_with("launcher/") || target.starts_with("worker/");
}

/// Headers with which a thinking folder could do something.
bool does_something(const std::string& target) {
  static const std::vector<std::string> exact = {"unistd.h",  "fcntl.h", "poll.h",   "pthread.h",  "sched.h",
                                                 "termios.h", "time.h",  "dirent.h", "netdb.h",    "thread",
                                                 "mutex",     "future",  "fstream",  "filesystem", "iostream",
                                                 "ctime",     "spawn.h", "random",   "cstdio",     "syncstream"};
  static const std::vector<std::string> families = {"sys/",  "linux/",     "net/",         "netinet/",
                                                    "arpa/", "boost/asio", "boost/process"};
  return std::find(exact.begin(), exact.end(), target) != exact.end() ||
         std::any_of(families.begin(), families.end(), [&](const auto& family) { return target.starts_with(family); });
}

bool is_third_party(const std::string& target) {
  static const std::vector<std::string> families = {"boost/", "fmt/", "nlohmann/", "yaml-cpp/", "pybind11/"};
  return std::any_of(families.begin(), families.end(), [&](const auto& family) { return target.starts_with(family); });
}

TEST(Floors, SourceTree_IsFound) { EXPECT_GT(sources().size(), 20U); }

TEST(Floors, EverySource_StandsInAKnownFolder) {
  for (const fs::path& file : sources()) EXPECT_NE(folder_of(from_root(file)), nullptr) << from_root(file);
}

TEST(Floors, EveryInclude_GoesDownOrStays) {
  for (const fs::path& file : sources()) {
    const Folder* here = folder_of(from_root(file));
    ASSERT_NE(here, nullptr);
    for (const Include& include : includes_of(file)) {
      if (!is_ours(include.target)) continue;
      const Folder* there = folder_of(root_path(include.target));
      ASSERT_NE(there, nullptr) << at(include);
      EXPECT_LE(there->floor, here->floor) << at(include) << ", which stands higher";
    }
  }
}

TEST(Floors, PublicHeaders_IncludeStandardHeadersOnly) {
  for (const fs::path& file : sources()) {
    if (folder_of(from_root(file))->kind != Kind::values) continue;
    for (const Include& include : includes_of(file)) {
      EXPECT_FALSE(is_third_party(include.target) || does_something(include.target)) << at(include);
    }
  }
}

/// The macros that take a wait status apart are arithmetic; their header is not only that.
bool only_takes_apart(const Include& include) {
  return include.target == "sys/wait.h" && from_root(include.file) == "launcher/diagnose/decode_status.cpp";
}

TEST(Floors, ThinkingFolders_CannotDoAnything) {
  for (const fs::path& file : sources()) {
    if (folder_of(from_root(file))->kind != Kind::thinking) continue;
    for (const Include& include : includes_of(file)) {
      EXPECT_TRUE(!does_something(include.target) || only_takes_apart(include)) << at(include);
    }
  }
}

// <chrono> is allowed for durations, but its clocks are not; nor is the environment, which is handed in.
TEST(Floors, ThinkingFolders_ReadNoClockAndNoEnvironment) {
  const std::regex forbidden(R"(\b(steady_clock|system_clock|high_resolution_clock|getenv|clock_gettime)\b)");
  for (const fs::path& file : sources()) {
    if (folder_of(from_root(file))->kind != Kind::thinking) continue;
    std::ifstream text(file);
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, forbidden)) << from_root(file) << ":" << number << ": " << line;
    }
  }
}

TEST(Floors, NoSource_IsLongerThanFourHundredLines) {
  for (const fs::path& file : sources()) {
    std::ifstream text(file);
    const auto lines = std::count(std::istreambuf_iterator<char>(text), {}, '\n');
    EXPECT_LE(lines, 400) << from_root(file);
  }
}

}  // namespace
