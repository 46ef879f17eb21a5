#include "bench/support/workspace.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace forklift::bench {

Workspace::Workspace() {
  std::string name = std::filesystem::temp_directory_path() / "forklift-bench-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
  folder_ = name;
  ::setenv("XDG_STATE_HOME", file("state").c_str(), 1);
}

Workspace::~Workspace() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace forklift::bench
