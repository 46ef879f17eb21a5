// Random runs in a bad world, under invariants. A failure prints its seed and its history.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tests/policy/policy_text.hpp"
#include "tests/policy/run_invariants.hpp"

namespace forklift::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

GroupRules random_rules(Dice& dice) {
  GroupRules rules;
  rules.replicas = 1 + dice.below(5);
  rules.nodes = dice.percent(10) ? 2 : 1;
  rules.ports = dice.percent(70) ? PortChoice::found : PortChoice::given;
  rules.stop.shutdown_timeout = dice.one_of({seconds(0), seconds(1), seconds(30)});
  rules.stop.kill_timeout = dice.one_of({seconds(1), seconds(10)});
  rules.restart.max_restarts = dice.below(4);
  if (dice.percent(30)) rules.restart.window = seconds(20);
  if (dice.percent(30)) rules.time.limit = dice.up_to(seconds(120));
  if (dice.percent(50)) rules.time.checkpoint_signal = SIGUSR1;
  return rules;
}

Event random_intrusion(Dice& dice) {
  const int kind = dice.below(100);
  if (kind < 60) {
    return StopRequested{dice.one_of({SIGINT, SIGINT, SIGTERM, SIGHUP, SIGQUIT}),
                         dice.one_of({Asker::terminal, Asker::outside})};
  }
  if (kind < 85) return SignalReceived{dice.one_of({SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT})};
  return kind < 95 ? Event(GuardLost{}) : Event(LauncherFailed{});
}

/// What all runs together have seen: a world in which nothing happens would keep every invariant.
struct Tally {
  std::array<int, std::variant_size_v<Action>> actions{};
  std::array<int, 3> results{};
};

class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed)
      : dice_(seed), rules_(random_rules(dice_)), machine_(rules_), job_(rules_.replicas, ~seed), invariants_(rules_) {
    job_.plan(Instant{0}, Begin{});
    for (int intrusions = dice_.below(5); intrusions > 0; --intrusions) {
      // Often in clusters, as signals come.
      const Instant at = dice_.percent(50) ? dice_.up_to(seconds(90)) : seconds(3) + dice_.up_to(seconds(3));
      job_.plan(at, random_intrusion(dice_));
    }
    job_.plan(seconds(1000), StopRequested{SIGTERM, Asker::outside});
    job_.plan(seconds(2000), Tick{});  // Long after the end: nothing may come of it.
  }

  void run() {
    while (step() && violations().empty()) {
    }
  }

  [[nodiscard]] std::vector<std::string> violations() const {
    std::vector<std::string> all = invariants_.violations();
    all.insert(all.end(), job_.violations().begin(), job_.violations().end());
    if (!job_.next() && !machine_.finished()) all.emplace_back("the run came to its end");
    return all;
  }

  void count_into(Tally& tally) const {
    for (const Entry& entry : history_) {
      for (const Action& action : entry.actions) {
        ++tally.actions.at(action.index());
        if (const auto* finish = std::get_if<Finish>(&action))
          ++tally.results.at(static_cast<std::size_t>(finish->result));
      }
    }
  }

  [[nodiscard]] std::string history() const {
    std::string text;
    for (const Entry& entry : history_) {
      text += std::to_string(std::chrono::duration_cast<milliseconds>(entry.at).count()) + " ms  " +
              to_text(entry.event) + "  →  " + to_text(entry.phase) + ": " + to_text(entry.actions) + "\n";
    }
    return text;
  }

 private:
  struct Entry {
    Instant at;
    Event event;
    Phase phase;
    Actions actions;
  };

  /// Lets the next thing happen, in the world or on the machine's clock; false when there is none.
  bool step() {
    const auto deadline = machine_.next_deadline();
    const auto happening = job_.next();
    if (deadline && (!happening || *deadline <= *happening)) {
      // The loop's timer is never early and sometimes late.
      const Instant at = std::max(now_, *deadline) + (dice_.percent(10) ? dice_.up_to(milliseconds(500)) : Duration{0});
      hand_in(Tick{}, happening ? std::min(at, std::max(now_, *happening)) : at);
      return true;
    }
    if (!happening) return false;
    const Instant at = std::max(now_, *happening);
    for (const Event& event : job_.happen()) hand_in(event, at);
    return true;
  }

  void hand_in(const Event& event, Instant at) {
    now_ = at;
    const Actions actions = machine_.step(event, now_);
    for (const Action& action : actions) job_.perform(action, now_);
    invariants_.check(event, now_, actions, machine_, job_);
    history_.push_back({now_, event, machine_.phase(), actions});
  }

  Dice dice_;
  GroupRules rules_;
  GroupMachine machine_;
  FakeJob job_;
  RunInvariants invariants_;
  Instant now_{0};
  std::vector<Entry> history_;
};

TEST(GroupMachine, RandomRunsInABadWorld_KeepTheInvariants) {
  constexpr std::uint64_t runs = 20'000;
  Tally tally;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    RandomRun run(seed);
    run.run();
    const auto violations = run.violations();
    ASSERT_TRUE(violations.empty()) << "seed " << seed << ": violated: " << violations.front() << "\n" << run.history();
    run.count_into(tally);
  }
  for (const int count : tally.actions) EXPECT_GT(count, 100);
  for (const int count : tally.results) EXPECT_GT(count, 1000);
}

}  // namespace
}  // namespace forklift::policy
