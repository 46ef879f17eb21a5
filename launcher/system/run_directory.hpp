// The run directory: made once per run, mode 0700; the newest 50 default ones are kept.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/result.hpp"

namespace forklift {

struct RunDirectory {
  std::filesystem::path path;
  std::vector<std::string> warnings;  ///< e.g. the default place could not be written and TMPDIR was taken.
};

/// $XDG_STATE_HOME/forklift/runs, else ~/.local/state/forklift/runs.
std::filesystem::path default_runs_directory(const Environment& environment);

/// YYYYMMDD-HHMMSS-xxxxxx, local time and six random hex digits.
std::string make_run_id();

/// Makes DIR/RUN_ID and DIR/RUN_ID/errors. `log_dir` empty: the default place (kept small by prune_runs), falling
/// back to TMPDIR/forklift-RUN_ID with a warning.
/// A `log_dir` that cannot be written is a usage error naming the directory and the reason. In both cases `last` in the
/// default place points to the new one. The path is absolute.
Result<RunDirectory> create_run_directory(const std::string& log_dir, const std::string& run_id,
                                          const Environment& environment);

/// The directory of a run for `forklift report [RUN]`: a path, a run id in the default place, or "last".
Result<std::filesystem::path> find_run_directory(const std::string& run, const Environment& environment);

/// Writes a file whole or not at all (temporary beside it, rename).
Result<void> write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace forklift
