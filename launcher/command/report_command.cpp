// `forklift report [RUN|last]`
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "launcher/command/verbs.hpp"
#include "launcher/report/event_log.hpp"
#include "launcher/report/report_format.hpp"
#include "launcher/request/format_option.hpp"
#include "launcher/request/help.hpp"
#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/run_directory.hpp"
#include "launcher/system/run_lock.hpp"

namespace forklift::command {
namespace {

/// report.json, or what events.jsonl tells if the run goes on, or was killed before it could write one.
Result<RunReport> load_report(const std::filesystem::path& directory) {
  // The lock first: a run that ends meanwhile has written its report before it lets go of it.
  const RunHolder holder = holder_of_run(directory);
  if (const auto json = read_file(directory / "report.json", std::size_t{1} << 30)) return parse_report(*json);
  const auto events = read_file(directory / "events.jsonl", std::size_t{1} << 30);
  if (!events) {
    return Error{ErrorKind::usage, directory.string() + " holds neither report.json nor events.jsonl of a run"};
  }
  return rebuild_report(*events, directory.string(), holder);
}

/// The run that the words name, with `--format` taken out of them.
Result<std::string> run_of(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.starts_with("-")) {
      return Error{ErrorKind::usage, "report: unknown option " + word + ", expected --format text|json"};
    }
  }
  if (words.size() > 1) {
    return Error{ErrorKind::usage,
                 "report: one run at a time, but '" + words[0] + "' and '" + words[1] + "' were given"};
  }
  return words.empty() ? "last" : words.front();
}

}  // namespace

int report(const Call& call) {
  const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(call.words.begin(), call.words.end(), is_help)) {
    std::fputs(report_help().c_str(), stdout);
    return 0;
  }
  const auto asked = take_format("report", call.words);
  if (!asked) return fail(asked.error());
  const auto name = run_of(asked.value().rest);
  if (!name) return fail(name.error());
  const auto directory = find_run_directory(name.value(), call.environment);
  if (!directory) return fail(directory.error());
  const auto found = load_report(directory.value());
  if (!found) return fail(found.error());
  const RunReport& run = found.value();
  if (asked.value().format == OutputFormat::json) {
    std::fputs(json_report(run).c_str(), stdout);
    return 0;
  }
  const std::string text = text_report(run, ::isatty(STDOUT_FILENO) != 0 ? TextStyle::coloured : TextStyle::plain);
  std::fputs(text.empty()
                 ? ("forklift: Run " + run.run_id + " succeeded  (files in " + run.run_directory + ").\n").c_str()
                 : text.c_str(),
             stdout);
  return 0;
}

}  // namespace forklift::command
