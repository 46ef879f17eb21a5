#include "tests/policy/named_states.hpp"

#include <csignal>

namespace forklift::policy {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using Group = ScriptedGroup;

constexpr StopRequested asked_by_term{SIGTERM, Asker::outside};

Group fresh() {
  GroupRules rules;
  rules.replicas = 2;
  rules.restart.max_restarts = 1;
  return Group(rules);
}

Group reserving() {
  Group group = fresh();
  group.take(Begin{});
  return group;
}

Group starting() {
  Group group = reserving();
  group.take(PortsReserved{});
  return group;
}

Group running() {
  Group group = fresh();
  group.start();
  return group;
}

Group after(Group group, std::initializer_list<Event> events) {
  for (const Event& event : events) group.take(event);
  return group;
}

Group after_deadline(Group group) {
  group.wait_for_deadline();
  return group;
}

const Event first_succeeds = ended(0, Exited{0});
const Event second_succeeds = ended(1, Exited{0});
const Event first_fails = ended(0, Exited{1});
const Event second_fails = ended(1, Exited{1});
const Event first_is_terminated = ended(0, Signalled{.signal = SIGTERM});
const Event second_is_terminated = ended(1, Signalled{.signal = SIGTERM});

}  // namespace

std::vector<NamedState> every_state() {
  const Group stopping_failure = after(running(), {first_fails});
  const Group stopping_request = after(running(), {asked_by_term});
  const Group success_look = after(running(), {first_succeeds, second_succeeds});
  const Group success_polite = after(success_look, {DescendantsLeft{3}});
  const Group failure_sweep = after(stopping_failure, {second_fails});
  const Group request_sweep = after(stopping_request, {first_is_terminated, second_is_terminated});
  const Group failure_diagnosis = after(failure_sweep, {DescendantsLeft{0}});
  return {
      {"idle", fresh()},
      {"reserving", reserving()},
      {"starting", starting()},
      {"starting, all but one ended", after(starting(), {first_succeeds})},
      {"running", running()},
      {"running, the last one", after(running(), {first_succeeds})},
      {"judging during the start", after(starting(), {first_is_terminated})},
      {"judging", after(running(), {first_is_terminated})},
      {"judging, all ended", after(running(), {first_is_terminated, second_is_terminated})},
      {"stopping a start", after(starting(), {first_fails})},
      {"stopping after failure", stopping_failure},
      {"stopping by request", stopping_request},
      {"killing after failure", after_deadline(stopping_failure)},
      {"killing by request", after_deadline(stopping_request)},
      {"killing without guard", after(running(), {GuardLost{}})},
      {"sweeping after success, looking", success_look},
      {"sweeping after success, politely", success_polite},
      {"sweeping after success, killing", after_deadline(success_polite)},
      {"sweeping after failure", failure_sweep},
      {"sweeping after a request", request_sweep},
      {"sweeping without guard", after(running(), {GuardLost{}, first_fails, second_fails})},
      {"diagnosing success", after(success_look, {DescendantsLeft{0}})},
      {"diagnosing failure", failure_diagnosis},
      {"diagnosing failure, stop requested", after(failure_diagnosis, {asked_by_term})},
      {"diagnosing failure, stop requested before",
       after(stopping_failure, {asked_by_term, second_fails, DescendantsLeft{0}})},
      {"diagnosing a request", after(request_sweep, {DescendantsLeft{0}})},
      {"finished", after(reserving(), {asked_by_term})},
  };
}

std::vector<NamedStep> every_step() {
  return {
      {"Begin", [](Group& group) { return group.take(Begin{}); }},
      {"PortsReserved", [](Group& group) { return group.take(PortsReserved{}); }},
      {"PortsReserved of another attempt", [](Group& group) { return group.take(PortsReserved{Attempt{7}}); }},
      {"GroupStarted", [](Group& group) { return group.take(GroupStarted{}); }},
      {"GroupStarted without one",
       [](Group& group) {
         return group.take(GroupStarted{Attempt{0}, 1});
       }},
      {"GroupStarted of another attempt", [](Group& group) { return group.take(GroupStarted{Attempt{7}}); }},
      {"ReplicaEnded by exit 0", [](Group& group) { return group.take(second_succeeds); }},
      {"ReplicaEnded by exit 1", [](Group& group) { return group.take(second_fails); }},
      {"ReplicaEnded by SIGTERM", [](Group& group) { return group.take(second_is_terminated); }},
      {"ReplicaEnded by SIGKILL", [](Group& group) { return group.take(ended(1, Signalled{.signal = SIGKILL})); }},
      {"ReplicaEnded before it started", [](Group& group) { return group.take(ended(1, FailedToStart{})); }},
      {"ReplicaEnded unseen", [](Group& group) { return group.take(ended(1, Lost{})); }},
      {"TemplateEnded by exit 0", [](Group& group) { return group.take(TemplateEnded{Exited{0}}); }},
      {"TemplateEnded by exit 1", [](Group& group) { return group.take(TemplateEnded{Exited{1}}); }},
      {"TemplateEnded by SIGTERM",
       [](Group& group) { return group.take(TemplateEnded{Signalled{.signal = SIGTERM}}); }},
      {"StopRequested TERM", [](Group& group) { return group.take(asked_by_term); }},
      {"StopRequested INT",
       [](Group& group) {
         return group.take(StopRequested{SIGINT, Asker::terminal});
       }},
      {"StopRequested by time limit",
       [](Group& group) {
         return group.take(StopRequested{SIGTERM, Asker::time_limit});
       }},
      {"SignalReceived", [](Group& group) { return group.take(SignalReceived{SIGUSR1}); }},
      {"GuardLost", [](Group& group) { return group.take(GuardLost{}); }},
      {"LauncherFailed", [](Group& group) { return group.take(LauncherFailed{}); }},
      {"DescendantsLeft 0", [](Group& group) { return group.take(DescendantsLeft{0}); }},
      {"DescendantsLeft 2", [](Group& group) { return group.take(DescendantsLeft{2}); }},
      {"AttemptDiagnosed success", [](Group& group) { return group.take(AttemptDiagnosed{}); }},
      {"AttemptDiagnosed exit_code", [](Group& group) { return group.take(AttemptDiagnosed{Category::exit_code}); }},
      {"AttemptDiagnosed interrupted",
       [](Group& group) { return group.take(AttemptDiagnosed{Category::interrupted}); }},
      {"Tick too early",
       [](Group& group) {
         const auto deadline = group.machine().next_deadline();
         return deadline ? group.wait(*deadline - group.now() - nanoseconds(1)) : group.wait(seconds(1'000'000));
       }},
      {"Tick at the deadline", [](Group& group) { return group.wait_for_deadline(); }},
  };
}

}  // namespace forklift::policy
