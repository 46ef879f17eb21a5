// The runs that are kept in the default place: how they are named, and which of them go.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace forklift {

/// So many of the newest runs stay in the default place,
constexpr std::size_t runs_kept = 50;
/// and beyond them so many of those that did not succeed: they are what somebody comes back to.
constexpr std::size_t failed_runs_kept = 50;

/// YYYYMMDD-HHMMSS-xxxxxx: in alphabetical order the oldest run is first.
bool is_run_id(std::string_view name);

/// Removes those beyond the newest `runs_kept`, and the newest `failed_runs_kept` of the failed ones before them, that
/// have ended: they have a report, or gave no sign of life for a month and nobody holds their lock. (The lock alone
/// would not do: not every shared home directory has locks.) What cannot be removed is left for the next time.
void prune_runs(const std::filesystem::path& runs);

}  // namespace forklift
