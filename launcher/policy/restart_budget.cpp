#include "launcher/policy/restart_budget.hpp"

#include <algorithm>
#include <utility>

namespace forklift::policy {

bool is_retried(Category category, const RestartRules& rules) {
  if (category == Category::interrupted || category == Category::failed_to_start) return false;
  if (!rules.only_on) return category != Category::out_of_memory;
  return std::ranges::find(*rules.only_on, category) != rules.only_on->end();
}

RestartBudget::RestartBudget(RestartRules rules, int nodes, PortChoice ports)
    : rules_(std::move(rules)),
      nodes_(nodes),
      port_retry_(ports == PortChoice::found ? PortRetry::available : PortRetry::unavailable) {}

bool RestartBudget::allows(Category category, Instant now) const {
  if (nodes_ > 1) return false;
  return is_port_retry(category) || (is_retried(category, rules_) && counted(now) < rules_.max_restarts);
}

void RestartBudget::spend(Category category, Instant now) {
  if (is_port_retry(category)) {
    port_retry_ = PortRetry::unavailable;
    return;
  }
  restarts_.push_back(now);
}

bool RestartBudget::is_port_retry(Category category) const {
  return category == Category::port_in_use && port_retry_ == PortRetry::available;
}

int RestartBudget::counted(Instant now) const {
  const auto counts = [&](Instant restart) { return !rules_.window || now - restart <= *rules_.window; };
  return static_cast<int>(std::ranges::count_if(restarts_, counts));
}

}  // namespace forklift::policy
