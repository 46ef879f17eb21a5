#include "tests/support/leak_check.hpp"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/support/temporary_directory.hpp"

namespace forklift::support {
namespace {

std::vector<int> list_children() {
  std::vector<int> children;
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; task != end; task.increment(error)) {
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
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/dev/shm", error), end; entry != end; entry.increment(error)) {
    names.insert(entry->path().filename().string());
  }
  return names;
}

std::string text_of(const std::string& text) { return text; }
std::string text_of(int number) { return std::to_string(number); }

/// One sentence for each element that only one of the two has.
template <class Container>
void compare(const Container& before, const Container& after, const std::string& what,
             std::vector<std::string>& sentences) {
  const auto has = [](const Container& all, const auto& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const auto& one : after) {
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
  compare(before.shared_memory, after.shared_memory, "an object in /dev/shm", sentences);
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
