#include "launcher/policy/restart_budget.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace forklift::policy {
namespace {

using std::chrono::seconds;
using Categories = std::vector<Category>;

RestartRules only_on(Categories categories) {
  RestartRules rules;
  rules.only_on = std::move(categories);
  return rules;
}

RestartRules at_most(int restarts) {
  RestartRules rules;
  rules.max_restarts = restarts;
  return rules;
}

RestartRules at_most_within(int restarts, Duration window) {
  RestartRules rules = at_most(restarts);
  rules.window = window;
  return rules;
}

RestartRules at_most_on(int restarts, Categories categories) {
  RestartRules rules = only_on(std::move(categories));
  rules.max_restarts = restarts;
  return rules;
}

struct RetriedCase {
  Category category;
  bool by_default;
  bool when_named;  ///< only_on = {category}
};

TEST(IsRetried, EveryCategory_ByDefaultAndWhenNamed) {
  const RetriedCase cases[] = {
      {Category::python_exception, true, true},
      {Category::segmentation_fault, true, true},
      {Category::abort, true, true},
      {Category::illegal_instruction, true, true},
      {Category::bus_error_shared_memory, true, true},
      {Category::out_of_memory, false, true},
      {Category::killed_from_outside, true, true},
      {Category::preempted, true, true},
      {Category::device_out_of_memory, true, true},
      {Category::collective_timeout, true, true},
      {Category::device_lost, true, true},
      {Category::exit_code, true, true},
      {Category::failed_to_start, false, false},
      {Category::port_in_use, true, true},
      {Category::device_busy, true, true},
      {Category::fork_after_device_init, true, true},
      {Category::hang, true, true},
      {Category::lost_node, true, true},
      {Category::interrupted, false, false},
  };
  for (const RetriedCase& each : cases) {
    SCOPED_TRACE(static_cast<int>(each.category));
    EXPECT_EQ(is_retried(each.category, {}), each.by_default);
    EXPECT_EQ(is_retried(each.category, only_on({each.category})), each.when_named);
    EXPECT_FALSE(is_retried(each.category, only_on({})));
  }
}

struct Failure {
  seconds at;
  Category category;
  bool restarted;
};

struct BudgetCase {
  const char* name;
  RestartRules rules;
  int nodes;
  PortChoice ports;
  std::vector<Failure> failures;
};

std::vector<BudgetCase> budget_cases() {
  constexpr auto exit_code = Category::exit_code;
  constexpr auto port = Category::port_in_use;
  constexpr auto found = PortChoice::found;
  constexpr auto given = PortChoice::given;
  return {
      {"none by default", {}, 1, found, {{seconds(1), exit_code, false}}},
      {"as many as allowed",
       at_most(2),
       1,
       found,
       {{seconds(1), exit_code, true}, {seconds(2), exit_code, true}, {seconds(900000), exit_code, false}}},
      {"a window forgets what lies further back",
       at_most_within(2, seconds(60)),
       1,
       found,
       {{seconds(0), exit_code, true},
        {seconds(50), exit_code, true},
        {seconds(60), exit_code, false},
        {seconds(61), exit_code, true},
        {seconds(100), exit_code, false},
        {seconds(111), exit_code, true}}},
      {"a window does not make a budget", at_most_within(0, seconds(60)), 1, found, {{seconds(1), exit_code, false}}},
      {"a port that forklift found gets one retry for nothing",
       {},
       1,
       found,
       {{seconds(1), port, true}, {seconds(2), port, false}}},
      {"the port retry leaves the budget alone",
       at_most(1),
       1,
       found,
       {{seconds(1), port, true}, {seconds(2), port, true}, {seconds(3), port, false}, {seconds(4), exit_code, false}}},
      {"the port retry comes whatever --restart-on says",
       at_most_on(1, {exit_code}),
       1,
       found,
       {{seconds(1), port, true}, {seconds(2), port, false}, {seconds(3), exit_code, true}}},
      {"a port that was given gets none", {}, 1, given, {{seconds(1), port, false}}},
      {"a port that was given uses the budget", at_most(1), 1, given, {{seconds(1), port, true}}},
      {"several nodes get nothing", at_most(5), 2, found, {{seconds(1), exit_code, false}, {seconds(2), port, false}}},
      {"a kind that is not retried leaves the budget alone",
       at_most(1),
       1,
       found,
       {{seconds(1), Category::out_of_memory, false}, {seconds(2), exit_code, true}}},
  };
}

TEST(RestartBudget, FailuresInARow_AreRestartedAsTheRulesSay) {
  for (const BudgetCase& each : budget_cases()) {
    SCOPED_TRACE(each.name);
    RestartBudget budget(each.rules, each.nodes, each.ports);
    for (const Failure& failure : each.failures) {
      SCOPED_TRACE("failure at second " + std::to_string(failure.at.count()));
      ASSERT_EQ(budget.allows(failure.category, failure.at), failure.restarted);
      if (failure.restarted) budget.spend(failure.category, failure.at);
    }
  }
}

}  // namespace
}  // namespace forklift::policy
