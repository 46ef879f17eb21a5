// The examples in C++, run as their comments say.
#include <cstdlib>
#include <string>

#include "tests/end_to_end/supervised_job.hpp"

namespace forklift {
namespace {

using namespace support;

class Examples : public SupervisedJobTest {
 protected:
  static std::string example(const std::string& name) { return std::string(FORKLIFT_EXAMPLES_DIR) + "/" + name; }
  static std::string data() { return std::string(FORKLIFT_SOURCE_DIR) + "/examples/data"; }

  /// A program that links the library; it finds the binary by its variable.
  [[nodiscard]] Command embedding(const std::string& name, std::vector<std::string> arguments) const {
    Command command = forklift({});
    command.argv = {example(name)};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment["FORKLIFT_BINARY"] = FORKLIFT_BINARY;
    return command;
  }
};

TEST_F(Examples, NotebookFork_AddsUpWhatItsReplicasFound) {
  const Ended ended = run(embedding("notebook_fork", {data(), "4"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_NE(ended.out.find("accuracy 0.906 over 360 digits, by 4 replicas"), std::string::npos) << ended;
  EXPECT_NE(ended.out.find("[3] "), std::string::npos) << ended;
}

TEST_F(Examples, Hogwild_ReachesTheAccuracyOfOneProcess) {
  const Ended ended = run(embedding("hogwild_digits", {data(), "4"}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  double shared = 0;
  double alone = 1;
  const auto found = ended.out.find("accuracy ");
  ASSERT_NE(found, std::string::npos) << ended;
  ASSERT_EQ(
      std::sscanf(ended.out.c_str() + found, "accuracy %lf by 4 replicas on shared weights, %lf", &shared, &alone), 2)
      << ended;
  EXPECT_GE(alone, 0.88) << ended;
  EXPECT_GE(shared, alone - 0.02) << ended;
}

TEST_F(Examples, TemplateDigits_LoadsOnceForAll) {
  const Ended ended = run(launch({"--template", "--num-processes", "3", example("template_digits"), data()}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_NE(ended.out.find("[template] loaded 1797 digits"), std::string::npos) << ended;
  EXPECT_EQ(ended.out.find("loaded 1797 digits", ended.out.find("loaded 1797 digits") + 1), std::string::npos) << ended;
  for (const char* line : {"[0] replica 0 of 3", "[1] replica 1 of 3", "[2] replica 2 of 3"}) {
    EXPECT_NE(ended.out.find(line), std::string::npos) << ended;
  }
}

TEST_F(Examples, TemplateDigitsAlone_IsRankZeroOfOne) {
  Command command;
  command.argv = {example("template_digits"), data()};
  const Ended ended = run(command);
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_NE(ended.out.find("replica 0 of 1: 326 of 360 right"), std::string::npos) << ended;
}

TEST_F(Examples, SharedModel_IsInheritedByEveryReplicaAndReported) {
  const std::string model = data() + "/digits_linear.safetensors";
  const Ended ended = run(launch({"--num-processes", "2", "--model", model, example("shared_model")}));
  EXPECT_EQ(ended.exit_code, 0) << ended;
  for (const char* line : {"[0] replica 0 of 2: 325 weights", "[1] replica 1 of 2: 325 weights"}) {
    EXPECT_NE(ended.out.find(line), std::string::npos) << ended;
  }
  EXPECT_EQ(report()["model"]["bytes"], 2600);
  EXPECT_EQ(report()["model"]["tensors"], 2);
  EXPECT_EQ(report()["model"]["mapped_by"], "file");
}

TEST_F(Examples, ModelThatIsNone_IsRefusedBeforeTheStart) {
  const Ended ended = run(launch({"--num-processes", "2", "--model", data() + "/README.md", example("shared_model")}));
  EXPECT_EQ(ended.exit_code, 2) << ended;
  EXPECT_NE(ended.err.find("--model"), std::string::npos) << ended;
  EXPECT_EQ(ended.out, "") << ended;
}

}  // namespace
}  // namespace forklift
