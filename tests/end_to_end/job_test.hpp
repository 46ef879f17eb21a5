// The fixture of tests that run the real binary: a state directory of its own, the reports that a run left there, and
// at the end the proof that nothing of the job is left.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/leak_check.hpp"
#include "tests/support/marked_processes.hpp"
#include "tests/support/process_runner.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift::support {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

inline Words operator+(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  std::sort(lines.begin(), lines.end());
  return lines;
}

inline std::size_t occurrences(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  for (auto at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + wanted.size())) ++count;
  return count;
}

class JobTest : public LeakChecked {
 protected:
  JobTest() : marker_(new_marker()) {
    std::filesystem::create_directories(state());
    std::filesystem::create_directories(temporary());
  }
  ~JobTest() override {
    EXPECT_TRUE(eventually([this] { return marked_count_is(marker_, 0); }));
  }

  /// `forklift WORDS…`, with none of the variables of an outer job.
  [[nodiscard]] Command forklift(const Words& words) const {
    Command command;
    command.argv = Words{FORKLIFT_BINARY} + words;
    command.environment = {
        {"XDG_STATE_HOME", state().string()}, {"TMPDIR", temporary().string()}, {"FORKLIFT_TEST_MARKER", marker_}};
    command.unset = {"RANK",         "LOCAL_RANK",      "WORLD_SIZE",  "LOCAL_WORLD_SIZE", "MASTER_ADDR",
                     "MASTER_PORT",  "OMP_NUM_THREADS", "VIRTUAL_ENV", "CONDA_PREFIX",     "CUDA_VISIBLE_DEVICES",
                     "KMP_AFFINITY", "NO_COLOR",        "FORCE_COLOR", "TF_CONFIG"};
    return command;
  }
  [[nodiscard]] Command launch(const Words& words) const { return forklift(Words{"launch"} + words); }

  /// The command as bash would start it after `preparation`, e.g. "ulimit -n 10".
  static Command prepared_by(const std::string& preparation, Command command) {
    command.argv = Words{"bash", "-c", preparation + "\nexec \"$@\"", "bash"} + command.argv;
    return command;
  }

  /// A checkout under /root is closed to everybody else.
  [[nodiscard]] bool may_be_run_by(uid_t user) const {
    Command version = forklift({"version"});
    version.user = user;
    return run(version).exit_code == 0;
  }
  /// Root cannot have mounts of its own in a chroot whose root is no mount point.
  [[nodiscard]] static bool can_mount() {
    if (::geteuid() != 0) return false;
    Command tried;
    tried.argv = {"unshare", "-m", "true"};
    return run(tried).exit_code == 0;
  }

  [[nodiscard]] std::filesystem::path state() const { return scratch_ / "state"; }
  [[nodiscard]] std::filesystem::path temporary() const { return scratch_ / "tmp"; }
  [[nodiscard]] std::filesystem::path runs() const { return state() / "forklift" / "runs"; }
  /// Where the last run left its files.
  [[nodiscard]] std::filesystem::path run_directory() const {
    std::error_code error;
    return std::filesystem::read_symlink(runs() / "last", error);
  }
  /// report.json of the last run; a discarded value, which has no keys, if there is none.
  [[nodiscard]] Json report() const { return Json::parse(read_text(run_directory() / "report.json"), nullptr, false); }

  [[nodiscard]] const TemporaryDirectory& scratch() const { return scratch_; }
  [[nodiscard]] const std::string& marker() const { return marker_; }

 private:
  TemporaryDirectory scratch_;
  std::string marker_;
};

}  // namespace forklift::support
