#include "launcher/system/program_lookup.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

namespace fs = std::filesystem;
using support::TemporaryDirectory;

/// Two directories in PATH and a working directory, with files of every kind.
class ProgramLookup : public support::LeakChecked {
 protected:
  ProgramLookup() : before_(fs::current_path()) {
    add("first/plain", 0644);
    add("second/plain", 0755);
    add("second/tool", 0755);
    add("second/data", 0644);
    add("here/train.py", 0644);
    add("here/run.sh", 0644);
    add("here/local", 0755);
    add("first/train.py", 0755);
    fs::create_directories(directory_ / "here/folder");
    fs::create_directories(directory_ / "first/tool");
    fs::current_path(directory_ / "here");
  }
  ~ProgramLookup() override { fs::current_path(before_); }

  void add(const std::string& name, mode_t mode) const { ::chmod(directory_.write(name, "#!/bin/sh\n").c_str(), mode); }
  [[nodiscard]] std::string in(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] Environment environment() const { return {{"PATH", in("first") + ":" + in("second")}}; }

 private:
  const TemporaryDirectory directory_;
  const fs::path before_;
};

TEST_F(ProgramLookup, Program_IsWhatItsFileIs) {
  const std::pair<std::string, ProgramFile> table[] = {
      {"plain", ProgramFile::executable},         // The one in the second directory: the first is no program.
      {"tool", ProgramFile::executable},          // The directory of that name does not hide it.
      {"data", ProgramFile::not_executable},      //
      {"train.py", ProgramFile::not_executable},  // A script is the one of the working directory, never of PATH.
      {"run.sh", ProgramFile::not_executable},    //
      {"local", ProgramFile::executable},         //
      {"folder", ProgramFile::directory},         //
      {"other.py", ProgramFile::missing},         //
      {"nothing", ProgramFile::missing},          //
      {"", ProgramFile::missing},                 //
      {"./run.sh", ProgramFile::not_executable},
      {"./local", ProgramFile::executable},
      {"./local/x", ProgramFile::missing},
      {"../first", ProgramFile::directory},
      {"/", ProgramFile::directory},
      {"/dev/null", ProgramFile::not_executable},
  };
  for (const auto& [program, expected] : table) EXPECT_EQ(look_at_program(program, environment()), expected) << program;
}

TEST_F(ProgramLookup, Executable_IsFoundAsAShellWould) {
  const std::pair<std::string, std::string> table[] = {
      {"plain", in("second/plain")},
      {"tool", in("second/tool")},
      {"./local", "./local"},
      {in("here/local"), in("here/local")},
  };
  for (const auto& [name, expected] : table) {
    const auto found = find_executable(name, environment());
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found.value(), expected);
  }
}

TEST_F(ProgramLookup, EmptyElementOfPath_IsTheWorkingDirectory) {
  for (const std::string& path : {std::string(":/nonexistent"), std::string("/nonexistent:"), std::string()}) {
    const auto found = find_executable("local", {{"PATH", path}});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found.value(), "./local");
  }
}

TEST_F(ProgramLookup, NoPath_StandardPlaces) {
  const auto found = find_executable("sh", {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found.value().ends_with("/bin/sh")) << found.value();
}

TEST_F(ProgramLookup, Refusals_NameTheFileAndTheReason) {
  const struct {
    const char* name;
    ErrorKind kind;
    const char* text;
  } table[] = {
      {"nothing", ErrorKind::not_found, "no file named 'nothing' in PATH"},
      {"local", ErrorKind::not_found, "'./local'"},
      {"./nothing", ErrorKind::not_found, "there is no file './nothing'"},
      {"", ErrorKind::not_found, "no file named ''"},
      {"data", ErrorKind::not_executable, "second/data'"},
      {"./run.sh", ErrorKind::not_executable, "execute permission"},
      {"./folder", ErrorKind::not_executable, "directory"},
      {"/dev/null", ErrorKind::not_executable, "'/dev/null'"},
  };
  for (const auto& row : table) {
    const auto found = find_executable(row.name, environment());
    ASSERT_FALSE(found) << row.name;
    EXPECT_EQ(found.error().kind, row.kind) << row.name;
    EXPECT_NE(found.error().message.find(row.text), std::string::npos) << found.error().message;
  }
}

}  // namespace
}  // namespace forklift
