// A temporary folder for one run of a bench; gone when it ends.
#pragma once

#include <filesystem>
#include <string>

namespace forklift::bench {

class Workspace {
 public:
  /// Made under TMPDIR, else /tmp. Points XDG_STATE_HOME into it, so that forklift keeps the runs of a bench there and
  /// not among the user's.
  Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace forklift::bench
