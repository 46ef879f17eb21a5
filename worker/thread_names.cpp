#include "worker/thread_names.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace forklift {

std::vector<std::string> names_of_other_threads() {
  std::vector<int> ids;
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    const int id = std::atoi(task->path().filename().c_str());
    if (id != ::gettid()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> names;
  for (const int id : ids) {
    std::string name;
    std::ifstream comm("/proc/self/task/" + std::to_string(id) + "/comm");
    if (std::getline(comm, name)) names.push_back(std::move(name));  // A thread that has ended meanwhile is none.
  }
  return names;
}

}  // namespace forklift
