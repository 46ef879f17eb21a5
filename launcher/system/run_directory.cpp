#include "launcher/system/run_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "launcher/system/run_history.hpp"

namespace forklift {
namespace {

namespace fs = std::filesystem;

std::string value_of(const Environment& environment, const std::string& name) {
  const auto variable = environment.find(name);
  return variable == environment.end() ? std::string() : variable->second;
}

std::string reason(int error) { return std::strerror(error); }

/// Makes a directory and its missing parents, open to nobody else. errno, or 0.
int make_private_directories(const fs::path& directory) {
  int first_failure = 0;
  fs::path made;
  for (const fs::path& part : directory) {
    made /= part;
    if (::mkdir(made.c_str(), S_IRWXU) != 0 && errno != EEXIST && first_failure == 0) first_failure = errno;
  }
  struct stat about {};
  if (::stat(directory.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) return 0;
  return first_failure != 0 ? first_failure : ENOTDIR;
}

/// errno, or 0.
int make_run(const fs::path& run) {
  if (::mkdir(run.c_str(), S_IRWXU) != 0) return errno;
  return ::mkdir((run / "errors").c_str(), S_IRWXU) == 0 ? 0 : errno;
}

// So that `forklift report RUN_ID` finds a run that --log-dir put elsewhere. Pruning removes the link, not the run.
void link_by_id(const fs::path& run, const fs::path& runs) {
  if (runs.empty() || make_private_directories(runs) != 0) return;
  [[maybe_unused]] const int made = ::symlink(run.c_str(), (runs / run.filename()).c_str());
}

// Two jobs that start together may both do this; the link is replaced as a whole.
void point_last_to(const fs::path& run, const fs::path& runs) {
  if (runs.empty()) return;
  const fs::path fresh = runs / ("last." + run.filename().string());
  int failed = ::symlink(run.c_str(), fresh.c_str());
  if (failed != 0 && errno == ENOENT && make_private_directories(runs) == 0) {
    failed = ::symlink(run.c_str(), fresh.c_str());
  }
  if (failed != 0) return;
  if (::rename(fresh.c_str(), (runs / "last").c_str()) != 0) ::unlink(fresh.c_str());
}

Result<RunDirectory> create_in_log_dir(const std::string& log_dir, const std::string& run_id) {
  std::error_code error;
  const fs::path parent = fs::absolute(log_dir, error);
  if (!error) fs::create_directories(parent, error);
  const fs::path run = parent / run_id;
  const int failed = error ? error.value() : make_run(run);
  if (failed == 0) return RunDirectory{run, {}};
  return Error{ErrorKind::usage,
               "--log-dir '" + log_dir + "': cannot make the directory of run '" + run_id + "' there (" +
                   reason(failed) + "); a directory that you may write to was expected",
               failed};
}

fs::path temporary_place(const std::string& run_id, const Environment& environment) {
  const std::string given = value_of(environment, "TMPDIR");
  return fs::path(given.empty() ? "/tmp" : given) / ("forklift-" + run_id);
}

/// mkdir refuses a name that somebody else has taken already, so a shared /tmp is no danger.
Result<RunDirectory> create_in_temporary_place(const std::string& run_id, const Environment& environment,
                                               const std::string& why) {
  const fs::path run = temporary_place(run_id, environment);
  const int failed = make_run(run);
  if (failed == 0) return RunDirectory{run, {why + "; this run is kept in '" + run.string() + "'"}};
  return Error{ErrorKind::system,
               why + ", and '" + run.string() + "' cannot be made either (" + reason(failed) +
                   "); name a directory with --log-dir",
               failed};
}

Result<RunDirectory> create_in_default_place(const fs::path& runs, const std::string& run_id,
                                             const Environment& environment) {
  if (runs.empty()) {
    return create_in_temporary_place(run_id, environment,
                                     "there is no place for runs (neither XDG_STATE_HOME nor HOME is set)");
  }
  const fs::path run = runs / run_id;
  int failed = make_run(run);
  if (failed == ENOENT) {  // The first run ever.
    failed = make_private_directories(runs);
    if (failed == 0) failed = make_run(run);
  }
  if (failed != 0) {
    return create_in_temporary_place(run_id, environment,
                                     "cannot write to '" + runs.string() + "' (" + reason(failed) + ")");
  }
  return RunDirectory{run, {}};
}

bool directory_exists(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

Error no_such_run(const std::string& message) { return {ErrorKind::usage, message, 0}; }

}  // namespace

fs::path default_runs_directory(const Environment& environment) {
  const fs::path state = value_of(environment, "XDG_STATE_HOME");
  if (state.is_absolute()) return state / "forklift" / "runs";  // A relative one is to be ignored, says its standard.
  const fs::path home = value_of(environment, "HOME");
  return home.empty() ? fs::path() : home / ".local" / "state" / "forklift" / "runs";
}

Result<RunDirectory> create_run_directory(const std::string& log_dir, const std::string& run_id,
                                          const Environment& environment) {
  const fs::path runs = default_runs_directory(environment);
  auto created =
      log_dir.empty() ? create_in_default_place(runs, run_id, environment) : create_in_log_dir(log_dir, run_id);
  if (!created) return created;
  if (!log_dir.empty()) link_by_id(created.value().path, runs);
  point_last_to(created.value().path, runs);
  return created;
}

Result<fs::path> find_run_directory(const std::string& run, const Environment& environment) {
  const fs::path runs = default_runs_directory(environment);
  if (run.empty()) return no_such_run("an empty name of a run; a run's id, its directory or 'last' was expected");
  if (run.find('/') == std::string::npos && !runs.empty()) {
    std::error_code error;
    const fs::path kept = runs / run;
    if (directory_exists(kept)) {
      fs::path target = fs::canonical(kept, error);  // Through `last`.
      return error ? kept : target;
    }
    if (const fs::path target = fs::read_symlink(kept, error); !error) {
      return no_such_run("the directory of run '" + run + "', '" + target.string() + "', is not there any more");
    }
  }
  if (directory_exists(run)) return fs::path(run);
  if (is_run_id(run)) {
    if (const fs::path kept = temporary_place(run, environment); directory_exists(kept)) return kept;
  }
  if (run == "last") {
    return no_such_run("no run has been made yet: there is none in '" + runs.string() +
                       "'; forklift launch makes one, and a run elsewhere is named by its directory");
  }
  return no_such_run("there is no run '" + run + "' in '" + runs.string() + "' and no directory of that name");
}

}  // namespace forklift
