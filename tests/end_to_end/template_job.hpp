// The fixture of tests that run template_program (tests/support) under `forklift launch --template`.
#pragma once

#include <string>
#include <vector>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift::support {

class TemplateTest : public SupervisedJobTest {
 protected:
  ~TemplateTest() override {
    EXPECT_TRUE(std::filesystem::is_empty(temporary())) << "a temporary file was left";
    std::error_code error;
    if (runs_end_with_a_report_) {
      EXPECT_FALSE(std::filesystem::exists(run_directory() / "heartbeats", error)) << "the heartbeats were left";
    }
  }

  /// `forklift launch FLAGS… --template` with so many replicas of template_program.
  [[nodiscard]] Command job(int replicas_of_it, const Words& steps, const Words& flags = {}) const {
    return launch(flags +
                  Words{"--template", "--num-processes", std::to_string(replicas_of_it), "--no-python",
                        FORKLIFT_TEMPLATE_PROGRAM} +
                  steps);
  }

  /// Whether every replica of a job has printed `text` (after its prefix).
  static ::testing::AssertionResult all_say(RunningProcess& running, int replicas_of_it, const std::string& text) {
    for (int rank = 0; rank < replicas_of_it; ++rank) {
      const std::string number = std::to_string(rank);
      if (auto said = running.wait_for_out("[" + number + "] rank " + number + ": " + text); !said) return said;
    }
    return ::testing::AssertionSuccess();
  }

  /// The template that was started last. Waits for the first one.
  [[nodiscard]] int template_pid() const {
    EXPECT_TRUE(eventually([this] { return events_reach("template_started", 1); }));
    const auto started = events("template_started");
    return started.empty() ? 0 : started.back().value("pid", 0);
  }

  /// A path in the scratch directory, as a word.
  [[nodiscard]] std::string file(const std::string& name) const { return (scratch() / name).string(); }
  /// For eventually(): it exists.
  [[nodiscard]] Seen file_exists(const std::string& name) const {
    return {std::filesystem::exists(scratch() / name), name + " does not exist"};
  }
  [[nodiscard]] std::size_t lines_in(const std::string& name) const {
    return lines_of(read_text(scratch() / name)).size();
  }

  void expect_nothing_left() const {
    EXPECT_TRUE(eventually([this] { return marked_count_is(marker(), 0); }));
  }
  /// For tests that kill the supervisor: its files stay as they are.
  void expect_no_report() { runs_end_with_a_report_ = false; }

 private:
  bool runs_end_with_a_report_ = true;
};

}  // namespace forklift::support
