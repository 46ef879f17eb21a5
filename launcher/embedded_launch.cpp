// forklift::launch(): the guard is a fork of the calling program.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "forklift/launch.hpp"
#include "launcher/launch.hpp"
#include "launcher/report/report_format.hpp"
#include "launcher/system/evidence_reader.hpp"

namespace forklift {
namespace {

int threads_of_this_process() {
  std::error_code error;
  int count = 0;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

Result<RunReport> launch(const LaunchRequest& request, const Environment& environment) {
  if (const int threads = threads_of_this_process(); threads > 1) {
    return Error{ErrorKind::usage,
                 fmt::format("forklift::launch() needs a program with one thread, and this one has {}", threads)};
  }
  auto inputs = prepare_run(request, environment, RunClock());
  if (!inputs) return inputs.error();
  const pid_t guard = ::fork();
  if (guard < 0) return Error{ErrorKind::system, std::string("cannot fork the guard: ") + std::strerror(errno), errno};
  if (guard == 0) {
    ::setpgid(0, 0);
    ::_exit(run_prepared(std::move(inputs).value()));
  }
  while (::waitpid(guard, nullptr, 0) < 0 && errno == EINTR) {
  }
  const std::string path = inputs.value().run_directory + "/report.json";
  const auto text = read_file(path);
  if (!text) return Error{ErrorKind::system, "the run left no report in " + path};
  return parse_report(*text);
}

}  // namespace forklift
