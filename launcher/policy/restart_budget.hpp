// Whether another attempt may follow a failed one.
#pragma once

#include <vector>

#include "forklift/diagnosis.hpp"
#include "forklift/request.hpp"
#include "launcher/policy/event.hpp"
#include "launcher/policy/group_rules.hpp"

namespace forklift::policy {

/// True if a failure of this kind is worth another try at all. Never: `interrupted` (somebody wanted the end) and
/// `failed_to_start` (it would fail again). `only_on` replaces the rest of the default, which is all but
/// `out_of_memory`.
bool is_retried(Category category, const RestartRules& rules);

/// Counts restarts against `max_restarts`; with a window, only those that lie at most that long back. Beside the budget
/// stands one retry a run for `port_in_use` on ports that forklift found: between finding and binding somebody else
/// took it, which is our race and not the job's. None of it with several nodes.
class RestartBudget {
 public:
  RestartBudget(RestartRules rules, int nodes, PortChoice ports);

  [[nodiscard]] bool allows(Category category, Instant now) const;
  /// Takes a restart from the budget. Requires: it is allowed.
  void spend(Category category, Instant now);

 private:
  enum class PortRetry { available, unavailable };

  [[nodiscard]] bool is_port_retry(Category category) const;
  [[nodiscard]] int counted(Instant now) const;

  RestartRules rules_;
  int nodes_;
  PortRetry port_retry_;
  std::vector<Instant> restarts_;  ///< Those that count, ascending.
};

}  // namespace forklift::policy
