// Real frameworks under `forklift launch`: one test for each row of cases.json; README.md describes the rows.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>

#include "tests/end_to_end/job_test.hpp"

namespace forklift {
namespace {

using support::Json;
using support::Words;

const std::string source_directory = FORKLIFT_SOURCE_DIR;

/// The rows say what a free machine needs.
constexpr int patience = 2;

struct CountedText {
  std::string text;
  std::size_t count = 0;
};

struct Row {
  std::string name;
  std::string python;
  Words launch_arguments;
  std::map<std::string, std::string> environment;
  std::optional<std::string> stdin_text;
  int exit_status = 0;
  std::vector<CountedText> stdout_contains;
  Words stderr_contains;
  std::optional<std::set<std::string>> scratch_files;
  Json root_cause;
  std::chrono::seconds timeout{0};
};

std::ostream& operator<<(std::ostream& stream, const Row& row) { return stream << row.name; }

Row read_row(const Json& json) {
  Row row;
  row.name = json.at("name");
  row.python = json.at("python");
  row.launch_arguments = json.at("launch_arguments").get<Words>();
  row.environment = json.value("environment", row.environment);
  if (json.contains("stdin")) row.stdin_text = json.at("stdin").get<std::string>();
  row.exit_status = json.at("exit_status");
  for (const Json& each : json.at("stdout_contains"))
    row.stdout_contains.push_back({each.at("text"), each.at("count")});
  row.stderr_contains = json.at("stderr_contains").get<Words>();
  if (json.contains("scratch_files")) row.scratch_files = json.at("scratch_files").get<std::set<std::string>>();
  row.root_cause = json.at("root_cause");
  row.timeout = std::chrono::seconds(json.at("timeout_s").get<int>());
  return row;
}

std::vector<Row> read_rows() {
  const std::string path = source_directory + "/tests/acceptance/cases.json";
  try {
    std::vector<Row> rows;
    for (const Json& json : Json::parse(support::read_text(path))) rows.push_back(read_row(json));
    return rows;
  } catch (const Json::exception& error) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), error.what());
    std::exit(1);
  }
}

struct Interpreter {
  std::string path;
  std::string module;  ///< What it must be able to import.
};

std::string variable_or_nothing(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Empty for a row without Python.
std::optional<Interpreter> interpreter_of(const Row& row) {
  if (row.python == "none") return std::nullopt;
  if (row.python == "debian-torch") return Interpreter{"/usr/bin/python3", "torch"};
  if (row.python == "tensorflow") return Interpreter{variable_or_nothing("FORKLIFT_TENSORFLOW_PYTHON"), row.python};
  return Interpreter{variable_or_nothing("FORKLIFT_ACCEPTANCE_PYTHON"), row.python};
}

/// Why the row cannot be run here; empty: it can.
std::string reason_to_skip(const Interpreter& interpreter) {
  if (interpreter.path.empty()) return "no Python for " + interpreter.module + " was named (see README.md)";
  support::Command command;
  command.argv = {interpreter.path, "-c", "import " + interpreter.module};
  const support::Ended ended = support::run(command);
  if (ended.exit_code == 0) return "";
  const auto lines = support::lines_of(ended.err);
  return interpreter.path + " cannot import " + interpreter.module + (lines.empty() ? "" : ": " + lines.back());
}

std::string replaced(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  }
  return text;
}

class Acceptance : public support::JobTest, public ::testing::WithParamInterface<Row> {
 protected:
  Acceptance() { std::filesystem::create_directories(files()); }

  [[nodiscard]] std::filesystem::path files() const { return scratch() / "files"; }

  [[nodiscard]] support::Command command_of(const Row& row, const std::optional<Interpreter>& interpreter) const {
    const std::map<std::string, std::string> places{
        {"{acceptance}", source_directory + "/tests/acceptance"},
        {"{examples}", source_directory + "/examples"},
        {"{build}", std::filesystem::path(FORKLIFT_BINARY).parent_path().string()},
        {"{scratch}", files().string()}};
    Words words;
    if (interpreter) words = {"--python", interpreter->path};
    for (const std::string& word : row.launch_arguments) words.push_back(replaced(word, places));
    support::Command command = launch(words);
    command.environment.insert(row.environment.begin(), row.environment.end());
    if (row.stdin_text) command.input = support::Input::pipe;
    return command;
  }

  void expect_root_cause(const Json& expected) const {
    const Json whole = report();
    ASSERT_TRUE(whole.contains("root_cause")) << "there is no report.json in " << run_directory();
    const Json& seen = whole.at("root_cause");
    if (expected.is_null() || seen.is_null()) {
      EXPECT_EQ(seen, expected);
      return;
    }
    for (const auto& [key, value] : expected.items()) EXPECT_EQ(seen.value(key, Json()), value) << "key " << key;
  }

  [[nodiscard]] std::set<std::string> names_of_files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(files())) names.insert(entry.path().filename());
    return names;
  }
};

TEST_P(Acceptance, RowOfCases_EndsAsItSays) {
  const Row& row = GetParam();
  const auto interpreter = interpreter_of(row);
  if (interpreter) {
    if (const std::string reason = reason_to_skip(*interpreter); !reason.empty()) GTEST_SKIP() << reason;
  }
  support::RunningProcess job(command_of(row, interpreter));
  if (row.stdin_text) {
    job.write_input(*row.stdin_text);
    job.close_input();
  }
  const support::Ended ended = job.wait(patience * row.timeout);

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, row.exit_status);
  for (const auto& [text, count] : row.stdout_contains) {
    EXPECT_EQ(support::occurrences(ended.out, text), count) << "of '" << text << "' on stdout";
  }
  for (const std::string& text : row.stderr_contains) {
    EXPECT_GT(support::occurrences(ended.err, text), 0U) << "of '" << text << "' on stderr";
  }
  if (row.scratch_files) {
    EXPECT_EQ(names_of_files(), *row.scratch_files);
  }
  expect_root_cause(row.root_cause);
}

INSTANTIATE_TEST_SUITE_P(Cases, Acceptance, ::testing::ValuesIn(read_rows()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace forklift
