#include "launcher/system/run_history.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/run_directory.hpp"
#include "launcher/system/run_lock.hpp"

namespace forklift {
namespace {

namespace fs = std::filesystem;

constexpr auto longest_silence = std::chrono::hours(30 * 24);

bool has_ended(const fs::path& run) {
  std::error_code error;
  if (!fs::exists(run, error)) return true;  // A link to a run under --log-dir that was removed there.
  if (fs::exists(run / "report.json", error)) return true;
  auto last_sign = fs::last_write_time(run / "events.jsonl", error);
  if (error) last_sign = fs::last_write_time(run, error);
  if (error || fs::file_time_type::clock::now() - last_sign <= longest_silence) return false;
  return holder_of_run(run).life != RunLife::running;  // A healthy job may be silent for long.
}

/// The word stands behind the command line, which may be long.
bool has_succeeded(const fs::path& run) {
  constexpr std::size_t longest_head = 64U << 10;
  const auto report = read_file(run / "report.json", longest_head);
  return report && report->find("\"result\": \"succeeded\"") != std::string::npos;
}

}  // namespace

bool is_run_id(std::string_view name) {
  constexpr std::string_view shape = "dddddddd-dddddd-xxxxxx";
  if (name.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = name[i] >= '0' && name[i] <= '9';
    const bool letter = name[i] >= 'a' && name[i] <= 'f';
    const bool fits = shape[i] == '-' ? name[i] == '-' : digit || (shape[i] == 'x' && letter);
    if (!fits) return false;
  }
  return true;
}

std::string make_run_id() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) {
    random = static_cast<std::uint32_t>(::getpid());
  }
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  std::snprintf(text + length, sizeof text - length, "-%06x", random & 0xffffffU);
  return text;
}

void prune_runs(const fs::path& runs) {
  std::error_code error;
  std::vector<std::string> ids;
  for (fs::directory_iterator entry(runs, error), end; !error && entry != end; entry.increment(error)) {
    if (auto name = entry->path().filename().string(); is_run_id(name)) ids.push_back(std::move(name));
  }
  std::sort(ids.begin(), ids.end(), std::greater<>());
  std::size_t failed = 0;
  for (std::size_t i = runs_kept; i < ids.size(); ++i) {
    const fs::path run = runs / ids[i];
    if (!has_ended(run)) continue;
    const bool is_kept = failed < failed_runs_kept && fs::exists(run / "report.json", error) && !has_succeeded(run);
    if (is_kept) {
      ++failed;
    } else {
      fs::remove_all(run, error);
    }
  }
}

}  // namespace forklift
