#include "tests/end_to_end/supervised_job.hpp"

#include <unistd.h>

#include <map>

namespace forklift::support {
namespace {

std::string proc_file(int pid, std::string_view name) {
  return read_text("/proc/" + std::to_string(pid) + "/" + std::string(name));
}

std::string outcome_in_words(const Json& outcome) {
  if (outcome.contains("exit_code")) return "exited " + std::to_string(outcome["exit_code"].get<int>());
  return outcome.value("signal_name", outcome.value("kind", "?"));
}

}  // namespace

char process_state(int pid) {
  const std::string text = proc_file(pid, "stat");
  const auto name_end = text.rfind(')');  // The name before it may hold anything.
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '\0' : text[name_end + 2];
}

std::string process_name(int pid) {
  std::string name = proc_file(pid, "comm");
  if (!name.empty()) name.pop_back();
  return name;
}

Seen state_is(int pid, char expected) {
  const char state = process_state(pid);
  return {state == expected, "process " + std::to_string(pid) + " in state " + (state == '\0' ? '-' : state)};
}

Words shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

Words replicas(int count, const Words& program) { return Words{"--num-processes", std::to_string(count)} + program; }

void SupervisedJobTest::give_scratch_to(uid_t user) const {
  for (const auto& folder : {scratch().path(), state(), temporary()}) {
    EXPECT_EQ(::chown(folder.c_str(), user, user), 0) << folder;
  }
}

std::vector<Json> SupervisedJobTest::events(std::string_view name) const {
  std::vector<Json> found;
  for (const std::string& line : lines_of(read_text(run_directory() / "events.jsonl"))) {
    Json event = Json::parse(line, nullptr, false);
    if (event.is_object() && event.value("event", "") == name) found.push_back(std::move(event));
  }
  return found;
}

Seen SupervisedJobTest::events_reach(std::string_view name, std::size_t count) const {
  const std::size_t seen = events(name).size();
  return {seen >= count, std::to_string(seen) + " events " + std::string(name)};
}

int SupervisedJobTest::supervisor_pid() const {
  int found = 0;
  EXPECT_TRUE(eventually([&] {
    for (const int pid : marked_processes(marker())) {
      if (process_name(pid) == supervisor_name) found = pid;
    }
    return found != 0;
  }));
  return found;
}

int SupervisedJobTest::replica_pid(int rank) const {
  int pid = 0;
  for (const Json& event : events("replica_started")) {
    if (event.value("rank", -1) == rank) pid = event.value("pid", 0);
  }
  EXPECT_NE(pid, 0) << "replica " << rank << " was not started";
  return pid;
}

std::vector<std::string> SupervisedJobTest::outcomes() const {
  std::map<int, std::string> by_rank;
  const Json whole = report();
  if (!whole.is_object()) return {"there is no report.json"};
  for (const Json& replica : whole["replicas"]) {
    by_rank[replica["rank"].get<int>()] = outcome_in_words(replica["outcome"]);
  }
  std::vector<std::string> all;
  for (auto& [rank, outcome] : by_rank) all.push_back(std::move(outcome));
  return all;
}

}  // namespace forklift::support
