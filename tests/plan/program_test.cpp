#include <gtest/gtest.h>

#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

using Words = std::vector<std::string>;

struct CommandCase {
  const char* name;
  const char* program;
  RunAs run_as;
  ProgramFile file;
  Words argv;
};

TEST(Program, Command) {
  const std::vector<CommandCase> cases = {
      {"script", "train.py", RunAs::automatic, ProgramFile::executable, {"python3", "-u", "train.py", "--lr", "1"}},
      {"script on another host",
       "train.py",
       RunAs::automatic,
       ProgramFile::unknown,
       {"python3", "-u", "train.py", "--lr", "1"}},
      {"module", "pkg.train", RunAs::module, ProgramFile::missing, {"python3", "-u", "-m", "pkg.train", "--lr", "1"}},
      {"executable", "./solver", RunAs::automatic, ProgramFile::executable, {"./solver", "--lr", "1"}},
      {"unknown executable", "solver", RunAs::automatic, ProgramFile::unknown, {"solver", "--lr", "1"}},
      {"direct script", "train.py", RunAs::direct, ProgramFile::executable, {"train.py", "--lr", "1"}},
      {"not executable",
       "train",
       RunAs::automatic,
       ProgramFile::not_executable,
       {"python3", "-u", "train", "--lr", "1"}},
      {"script without permission",
       "train.py",
       RunAs::automatic,
       ProgramFile::not_executable,
       {"python3", "-u", "train.py", "--lr", "1"}}};
  for (const CommandCase& row : cases) {
    RequestBuilder builder = a_request().in_total(1).file(row.file);
    builder.request.program = row.program;
    builder.request.run_as = row.run_as;
    builder.request.arguments = {"--lr", "1"};
    const Plan plan = builder.planned();
    EXPECT_EQ(plan.replicas.at(0).argv, row.argv) << row.name;
    const ProgramKind kind = row.argv.front() == "python3" ? ProgramKind::python : ProgramKind::native;
    EXPECT_EQ(plan.program_kind, kind) << row.name;
  }
}

TEST(Program, FileWithoutPermission_IsRunByPythonWithANote) {
  RequestBuilder builder = a_request().in_total(2).file(ProgramFile::not_executable);
  EXPECT_TRUE(builder.planned().warnings.empty());  // nobody expects a .py to be executable
  builder.request.program = "train";
  EXPECT_TRUE(warns_of(builder.planned(), "'train' has no execute permission: it is run by python3"));
}

struct PythonCase {
  const char* option;
  Environment environment;
  const char* python;
};

TEST(Program, Python_IsTheOptionsElseTheActiveEnvironments) {
  const std::vector<PythonCase> cases = {{"/opt/py", {{"VIRTUAL_ENV", "/v"}}, "/opt/py"},
                                         {"", {{"VIRTUAL_ENV", "/v"}, {"CONDA_PREFIX", "/c"}}, "/v/bin/python"},
                                         {"", {{"VIRTUAL_ENV", ""}, {"CONDA_PREFIX", "/c"}}, "/c/bin/python"},
                                         {"", {}, "python3"}};
  for (const PythonCase& row : cases) {
    RequestBuilder builder = a_request().in_total(1);
    builder.request.python = row.option;
    builder.environment = row.environment;
    const Plan plan = builder.planned();
    EXPECT_EQ(plan.replicas.at(0).argv.front(), row.python);
    EXPECT_EQ(plan.origins.count("python"), 1U);
  }
}

struct RefusedFile {
  ProgramFile file;
  RunAs run_as;
  ErrorKind kind;
  const char* words;
};

TEST(Program, FileThatCannotRun_IsRefused) {
  const std::vector<RefusedFile> cases = {
      {ProgramFile::missing, RunAs::automatic, ErrorKind::not_found, "cannot find the program 'job'"},
      {ProgramFile::missing, RunAs::direct, ErrorKind::not_found, "cannot find the program 'job'"},
      {ProgramFile::directory, RunAs::automatic, ErrorKind::not_executable, "is a directory"},
      {ProgramFile::directory, RunAs::direct, ErrorKind::not_executable, "is a directory"},
      {ProgramFile::not_executable, RunAs::direct, ErrorKind::not_executable, "no execute permission"}};
  for (const RefusedFile& row : cases) {
    RequestBuilder builder = a_request().in_total(1).file(row.file);
    builder.request.program = "job";
    builder.request.run_as = row.run_as;
    const auto plan = builder.plan();
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind, row.kind);
    EXPECT_NE(plan.error().message.find(row.words), std::string::npos) << plan.error().message;
  }
}

TEST(Program, PythonAsATemplate_IsRefused) {
  RequestBuilder builder = a_request();
  builder.request.start_method = StartMethod::from_template;
  EXPECT_NE(builder.refused().find("the Python module that gives it a fork point is not part of this version"),
            std::string::npos)
      << builder.refused();
  builder.request.program = "job";
  builder.file(ProgramFile::executable);
  EXPECT_EQ(builder.planned().start_method, StartMethod::from_template);
}

TEST(Program, NoProgram_IsAUsageError) {
  RequestBuilder builder = a_request();
  builder.request.program.clear();
  EXPECT_NE(builder.refused().find("no PROGRAM was given"), std::string::npos);
}

TEST(Program, ExpandedArguments_HoldTheReplicasRanks) {
  RequestBuilder builder = a_request().in_total(4).machines(2, 1);
  builder.request.program = "{rank}.py";
  builder.request.arguments = {"--out={rank}/{local_rank}", "{rank}{rank}", "{other}"};
  EXPECT_EQ(builder.planned().replicas[1].argv,
            (Words{"python3", "-u", "{rank}.py", "--out={rank}/{local_rank}", "{rank}{rank}", "{other}"}));
  builder.request.expand_arguments = ArgumentExpansion::expand;
  EXPECT_EQ(builder.planned().replicas[1].argv, (Words{"python3", "-u", "{rank}.py", "--out=3/1", "33", "{other}"}));
}

}  // namespace
}  // namespace forklift
