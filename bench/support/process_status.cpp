#include "bench/support/process_status.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace forklift::bench {
namespace {

std::filesystem::path proc(pid_t pid) { return std::filesystem::path("/proc") / std::to_string(pid); }

std::ifstream open_or_throw(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return file;
}

/// The number in the line "NAME:  number …".
std::uint64_t field(const std::filesystem::path& path, std::string_view name) {
  std::ifstream file = open_or_throw(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name) && line.substr(name.size(), 1) == ":") return std::stoull(line.substr(name.size() + 1));
  }
  throw std::runtime_error(path.string() + " has no line " + std::string(name));
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& thread : std::filesystem::directory_iterator(proc(pid) / "task")) {
    std::ifstream file = open_or_throw(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::uint64_t context_switches(pid_t pid) {
  std::uint64_t switches = 0;
  for (const auto& thread : std::filesystem::directory_iterator(proc(pid) / "task")) {
    switches += field(thread.path() / "status", "voluntary_ctxt_switches");
    switches += field(thread.path() / "status", "nonvoluntary_ctxt_switches");
  }
  return switches;
}

Memory memory_of(pid_t pid) {
  const std::filesystem::path rollup = proc(pid) / "smaps_rollup";
  return {field(rollup, "Rss"), field(rollup, "Pss")};
}

}  // namespace forklift::bench
