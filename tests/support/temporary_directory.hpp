// A directory that is there as long as this object.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace forklift::support {

class TemporaryDirectory {
 public:
  /// Ends the test program if the machine refuses to make one.
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  /// Writes a file and the directories above it; returns its path.
  std::filesystem::path write(std::string_view name, std::string_view content) const;

  /// How many of them this process has now.
  static int count();

 private:
  std::filesystem::path path_;
};

/// The whole content; empty if the file cannot be read.
std::string read_text(const std::filesystem::path& path);

}  // namespace forklift::support
