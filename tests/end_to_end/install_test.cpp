// `cmake --install`, and a program of somebody else's that uses what was installed.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/end_to_end/job_test.hpp"

namespace forklift {
namespace {

using support::Command;
using support::Ended;
using support::Words;

constexpr const char* consumer_project = R"(cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(forklift REQUIRED)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE forklift::forklift)
)";

// Plans a job, runs it, and prints what it got: the plan's world size, the job's own output, the report.
constexpr const char* consumer_program = R"(#include <cstdio>
#include <forklift/launch.hpp>
#include <forklift/plan.hpp>
#include <forklift/weight_tying.hpp>

int main() {
  forklift::LaunchRequest request;
  request.program = "/bin/echo";
  request.arguments = {"from a replica"};
  request.processes = forklift::ProcessesInTotal{2};
  const forklift::Environment environment = {{"PATH", "/usr/bin:/bin"}, {"XDG_STATE_HOME", "CONSUMER_STATE"}};
  forklift::HostFacts host;
  host.cores = {{{0}, 0}, {{1}, 0}};
  const auto plan = forklift::make_plan(request, {host, environment, forklift::ProgramFile::executable, ""});
  if (!plan) return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 1;
  std::printf("planned %d\n", plan.value().world_size);
  std::printf("tied %zu\n", forklift::find_tied({{"embed", 1, 0, 8, 2}, {"head", 1, 0, 8, 2}}).size());
  std::fflush(stdout);
  const auto report = forklift::launch(request, environment);
  if (!report) return std::fprintf(stderr, "%s\n", report.error().message.c_str()), 1;
  std::printf("reported %zu, status %d\n", report.value().replicas.size(), report.value().exit_status);
}
)";

/// Debian's own, where the PATH has another of that name in front.
std::string cmake() { return std::filesystem::exists("/usr/bin/cmake") ? "/usr/bin/cmake" : "cmake"; }

class Install : public support::JobTest {
 protected:
  void expect_success(const Words& argv) const {
    Command command = forklift({});
    command.argv = argv;
    const Ended ended = support::run(command, std::chrono::minutes(8));
    ASSERT_EQ(ended.exit_code, 0) << argv.front() << ' ' << argv[1] << ": " << ended;
  }

  [[nodiscard]] std::string prefix() const { return (scratch() / "prefix").string(); }
  [[nodiscard]] std::string project() const { return (scratch() / "consumer").string(); }

  void write_consumer() const {
    std::string program = consumer_program;
    const std::string place = "CONSUMER_STATE";
    program.replace(program.find(place), place.size(), state().string());
    scratch().write("consumer/CMakeLists.txt", consumer_project);
    scratch().write("consumer/consumer.cpp", program);
  }
};

TEST_F(Install, InstalledPackage_IsFoundAndRunsAJob) {
  const std::string build = std::filesystem::path(FORKLIFT_BINARY).parent_path();
  expect_success({cmake(), "--install", build, "--prefix", prefix()});
  write_consumer();
  expect_success({cmake(), "-G", "Ninja", "-S", project(), "-B", project() + "/build",
                  "-DCMAKE_PREFIX_PATH=" + prefix(), "-DCMAKE_BUILD_TYPE=Debug"});
  expect_success({cmake(), "--build", project() + "/build"});

  Command consumer = forklift({});
  consumer.argv = {project() + "/build/consumer"};
  const Ended ended = support::run(consumer);

  SCOPED_TRACE(::testing::Message() << ended);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(support::sorted_lines(ended.out),
            (Words{"[0] from a replica", "[1] from a replica", "planned 2", "reported 2, status 0", "tied 1"}));
}

TEST_F(Install, InstalledBinary_RunsFromItsPlace) {
  const std::string build = std::filesystem::path(FORKLIFT_BINARY).parent_path();
  expect_success({cmake(), "--install", build, "--prefix", prefix()});
  Command command = launch({"--num-processes", "2", "/bin/echo", "hello"});
  command.argv.front() = prefix() + "/bin/forklift";
  EXPECT_EQ(support::sorted_lines(support::run(command).out), (Words{"[0] hello", "[1] hello"}));
}

}  // namespace
}  // namespace forklift
