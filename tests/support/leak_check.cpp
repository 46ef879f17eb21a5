#include "tests/support/leak_check.hpp"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/support/temporary_directory.hpp"

namespace forklift::support {
namespace {

namespace fs = std::filesystem;

std::vector<int> list_children() {
  std::vector<int> children;
  std::error_code error;
  for (fs::directory_iterator task("/proc/self/task", error), end; task != end; task.increment(error)) {
    std::ifstream file(task->path() / "children");
    for (int pid = 0; file >> pid;) children.push_back(pid);
  }
  siginfo_t info{};
  const bool none = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0;
  if (!none && children.empty()) children.push_back(info.si_pid);  // A kernel without that file.
  return children;
}

std::vector<std::string> list_descriptors() {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), ::closedir);
  if (!directory) return found;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name[0] == '.' || std::atoi(entry->d_name) == ::dirfd(directory.get())) continue;
    char target[512];
    const ssize_t length = ::readlinkat(::dirfd(directory.get()), entry->d_name, target, sizeof target);
    found.push_back(name + " → " + std::string(target, static_cast<std::size_t>(std::max<ssize_t>(length, 0))));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<int> list_blocked_signals() {
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  std::vector<int> blocked;
  for (int signal = 1; signal < NSIG; ++signal) {
    if (::sigismember(&mask, signal) == 1) blocked.push_back(signal);
  }
  return blocked;
}

std::set<std::string> list_shared_memory() {
  std::set<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry("/dev/shm", error), end; entry != end; entry.increment(error)) {
    if (entry->is_regular_file(error)) paths.insert(entry->path().string());
  }
  return paths;
}

bool uses(const fs::path& process, const std::string& path) {
  if (read_text(process / "maps").find(path) != std::string::npos) return true;
  std::error_code error;
  for (fs::directory_iterator descriptor(process / "fd", error), end; !error && descriptor != end;
       descriptor.increment(error)) {
    if (fs::read_symlink(descriptor->path(), error) == path) return true;
  }
  return false;
}

/// Whether a program that runs has it open or mapped. Our own have all ended, so it is none of our business then.
bool is_in_use(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator process("/proc", error), end; !error && process != end; process.increment(error)) {
    if (std::isdigit(static_cast<unsigned char>(process->path().filename().string().front())) != 0 &&
        uses(process->path(), path)) {
      return true;
    }
  }
  return false;
}

std::string text_of(const std::string& text) { return text; }
std::string text_of(int number) { return std::to_string(number); }

/// A test that left a thousand processes has said enough with these.
constexpr std::size_t most_sentences = 20;

/// One sentence for each element that only one of the two has.
template <class Container>
void compare(const Container& before, const Container& after, const std::string& what,
             std::vector<std::string>& sentences) {
  const auto has = [](const Container& all, const auto& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const auto& one : after) {
    if (sentences.size() >= most_sentences) return;
    if (!has(before, one)) sentences.push_back(what + " was left: " + text_of(one));
  }
  for (const auto& one : before) {
    if (!has(after, one)) sentences.push_back(what + " has gone: " + text_of(one));
  }
}

}  // namespace

Belongings look_at_belongings() {
  Belongings now;
  now.children = list_children();
  now.descriptors = list_descriptors();
  now.blocked_signals = list_blocked_signals();
  now.shared_memory = list_shared_memory();
  now.temporary_directories = TemporaryDirectory::count();
  ::prctl(PR_GET_CHILD_SUBREAPER, &now.subreaper);
  return now;
}

std::vector<std::string> differences(const Belongings& before, const Belongings& after) {
  std::vector<std::string> sentences;
  compare(before.children, after.children, "a child process", sentences);
  compare(before.descriptors, after.descriptors, "a descriptor", sentences);
  compare(before.blocked_signals, after.blocked_signals, "a blocked signal", sentences);
  for (const std::string& path : after.shared_memory) {
    if (before.shared_memory.contains(path) || is_in_use(path) || !fs::exists(path)) continue;
    sentences.push_back("a shared memory object was left: " + path);
  }
  if (before.temporary_directories != after.temporary_directories)
    sentences.emplace_back("a temporary directory was left");
  if (before.subreaper != after.subreaper)
    sentences.emplace_back("the process is a subreaper and was none, or was one");
  return sentences;
}

LeakChecked::LeakChecked() : before_(look_at_belongings()) {}

LeakChecked::~LeakChecked() {
  for (const std::string& sentence : differences(before_, look_at_belongings())) ADD_FAILURE() << sentence;
}

}  // namespace forklift::support
