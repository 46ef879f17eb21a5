#include "tests/support/marked_processes.hpp"

#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "tests/support/temporary_directory.hpp"

namespace forklift::support {
namespace {

namespace fs = std::filesystem;

// A process whose first thread has ended looks like a zombie, without an environment; its other threads still have it.
bool has_marker(const fs::path& process, std::string_view marker) {
  std::string environment = read_text(process / "environ");
  std::error_code error;
  for (fs::directory_iterator thread(process / "task", error), end; environment.empty() && !error && thread != end;
       thread.increment(error)) {
    environment = read_text(thread->path() / "environ");
  }
  return environment.find(marker) != std::string::npos;
}

}  // namespace

std::string new_marker() {
  static int made = 0;
  return "forklift-marker-" + std::to_string(::getpid()) + "-" + std::to_string(++made) + ".";
}

std::vector<int> marked_processes(std::string_view marker) {
  std::vector<int> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int pid = 0;
    const auto [stop, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc{} || stop != name.data() + name.size() || pid == ::getpid()) continue;
    if (has_marker(entry->path(), marker)) found.push_back(pid);
  }
  return found;
}

Seen marked_count_is(std::string_view marker, std::size_t expected) {
  const std::vector<int> found = marked_processes(marker);
  Seen seen{found.size() == expected,
            std::to_string(found.size()) + " processes, " + std::to_string(expected) + " expected:"};
  for (const int pid : found) {
    std::string words = read_text("/proc/" + std::to_string(pid) + "/cmdline");
    for (char& character : words) {
      if (character == '\0') character = ' ';
    }
    seen.description += "\n  " + std::to_string(pid) + " " + words;
  }
  return seen;
}

}  // namespace forklift::support
