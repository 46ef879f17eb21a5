#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "tests/policy/named_states.hpp"
#include "tests/policy/transition_table.hpp"

namespace forklift::policy {
namespace {

struct ExpectedState {
  std::string phase;
  std::map<std::string, std::string> by_step;
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

void add_row(const std::string& row, ExpectedState& state) {
  const auto arrow = row.find("->");
  const std::string expected = trimmed(row.substr(arrow + 2));
  std::istringstream steps(row.substr(0, arrow));
  for (std::string step; std::getline(steps, step, '|');) {
    EXPECT_TRUE(state.by_step.emplace(trimmed(step), expected).second) << "listed twice: " << step;
  }
}

std::map<std::string, ExpectedState> parse_table(const std::string& table) {
  std::map<std::string, ExpectedState> states;
  ExpectedState* state = nullptr;
  std::string row;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) {
      const auto end = line.find(']');
      const auto [place, is_new] =
          states.emplace(line.substr(1, end - 1), ExpectedState{trimmed(line.substr(end + 1)), {}});
      EXPECT_TRUE(is_new) << "listed twice: " << line;
      state = &place->second;
      continue;
    }
    row += line;
    if (line.find("->") == std::string::npos) continue;
    add_row(row, *state);
    row.clear();
  }
  return states;
}

TEST(GroupMachine, EveryStateAndEveryStep_GoesWhereTheTableSays) {
  auto expected = parse_table(transition_table);
  const auto steps = every_step();
  for (const NamedState& state : every_state()) {
    SCOPED_TRACE("state: " + state.name);
    auto found = expected.extract(state.name);
    ASSERT_FALSE(found.empty()) << "not in the table";
    auto& [phase, by_step] = found.mapped();
    EXPECT_EQ(to_text(state.group.machine().phase()), phase);
    for (const NamedStep& step : steps) {
      ScriptedGroup group = state.group;
      const auto row = by_step.extract(step.name);
      EXPECT_EQ(step.take(group), row.empty() ? phase + ": -" : row.mapped()) << "step: " << step.name;
    }
    for (const auto& [step, unused] : by_step) ADD_FAILURE() << "the table knows a step that does not exist: " << step;
  }
  for (const auto& [state, unused] : expected)
    ADD_FAILURE() << "the table knows a state that does not exist: " << state;
}

TEST(GroupMachine, StepThatDoesNothing_MovesNoDeadline) {
  const auto steps = every_step();
  for (const NamedState& state : every_state()) {
    for (const NamedStep& step : steps) {
      ScriptedGroup group = state.group;
      const auto before = group.machine().next_deadline();
      const std::string phase = to_text(group.machine().phase());
      if (step.take(group) != phase + ": -") continue;
      EXPECT_EQ(group.machine().next_deadline(), before) << state.name << ": " << step.name;
    }
  }
}

TEST(GroupMachine, StateInWhichNothingIsOverdue_HasNoDeadline) {
  const std::set<std::string> waits{"judging", "stopping", "sweeping"};
  for (const NamedState& state : every_state()) {
    const GroupMachine& machine = state.group.machine();
    const bool only_looks = state.name == "sweeping after success, looking";
    EXPECT_EQ(machine.next_deadline().has_value(), waits.contains(to_text(machine.phase())) && !only_looks)
        << state.name;
  }
}

}  // namespace
}  // namespace forklift::policy
