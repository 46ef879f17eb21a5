// The byte-exact copy of a stream in a log file (`--tee`). A full disk never stops the job: what does not fit is lost
// here, and the copy says that it is not intact.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "worker/descriptor.hpp"

namespace forklift {

class LogCopy {
 public:
  /// No copy is wanted.
  LogCopy() = default;
  /// Takes `file`, open for writing; `path` is for messages.
  LogCopy(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  /// Goes on trying after a failure: space may come back.
  void write(std::string_view bytes);
  void close() { file_.close(); }

  /// Whether everything that was printed is in the file.
  [[nodiscard]] bool intact() const { return !path_.empty() && first_errno_ == 0; }
  [[nodiscard]] int first_errno() const { return first_errno_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Descriptor file_;
  std::string path_;
  int first_errno_ = 0;
};

}  // namespace forklift
