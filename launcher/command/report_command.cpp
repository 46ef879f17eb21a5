// `forklift report [RUN|last]`
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "launcher/command/verbs.hpp"
#include "launcher/report/event_log.hpp"
#include "launcher/report/report_format.hpp"
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

enum class Format { text, json };

struct Asked {
  std::string run = "last";
  Format format = Format::text;
};

Result<Asked> parse(const std::vector<std::string>& words) {
  Asked asked;
  std::optional<std::string> run;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    std::optional<std::string> format;
    if (word == "--format" && i + 1 < words.size()) format = words[++i];
    if (word.starts_with("--format=")) format = word.substr(9);
    if (format) {
      if (*format != "text" && *format != "json") {
        return Error{ErrorKind::usage, "report: --format is '" + *format + "', expected text or json"};
      }
      asked.format = *format == "json" ? Format::json : Format::text;
    } else if (word.starts_with("-")) {
      return Error{ErrorKind::usage, "report: unknown option " + word + "; there is --format text|json"};
    } else if (run) {
      return Error{ErrorKind::usage, "report: one run at a time, but '" + *run + "' and '" + word + "' were given"};
    } else {
      run = word;
    }
  }
  asked.run = run.value_or("last");
  return asked;
}

}  // namespace

int report(const Call& call) {
  const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(call.words.begin(), call.words.end(), is_help)) {
    std::fputs(report_help().c_str(), stdout);
    return 0;
  }
  const auto asked = parse(call.words);
  if (!asked) return fail(asked.error());
  const auto directory = find_run_directory(asked.value().run, call.environment);
  if (!directory) return fail(directory.error());
  const auto found = load_report(directory.value());
  if (!found) return fail(found.error());
  const RunReport& run = found.value();
  if (asked.value().format == Format::json) {
    std::fputs(json_report(run).c_str(), stdout);
    return 0;
  }
  const std::string text = text_report(run, ::isatty(STDOUT_FILENO) != 0 ? TextStyle::coloured : TextStyle::plain);
  std::fputs(text.empty() ? ("forklift: run " + run.run_id + " succeeded.\n").c_str() : text.c_str(), stdout);
  return 0;
}

}  // namespace forklift::command
