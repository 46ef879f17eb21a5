// The lines of the dry run about restarts, time, the shared model and the run directory.
#include <fmt/format.h>

#include <chrono>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/plan/describe_plan.hpp"
#include "launcher/plan/text_layout.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

std::string seconds(Duration time) { return fmt::format("{} s", std::chrono::duration<double>(time).count()); }

std::string restarts_text(const RestartRules& rules) {
  if (rules.max_restarts == 0) return {};
  std::string text = fmt::format("  restarts    at most {}", rules.max_restarts);
  if (rules.window) text += fmt::format(" within {}", seconds(*rules.window));
  if (rules.only_on) {
    text += ", after";
    for (const Category category : *rules.only_on) text += fmt::format(" {}", category_name(category));
  }
  return text + '\n';
}

std::string time_text(const TimeRules& rules) {
  if (!rules.limit) return {};
  std::string text = fmt::format("  time limit  {}", seconds(*rules.limit));
  if (rules.checkpoint_signal != 0) {
    text += fmt::format("; {} is sent {} before", signal_name(rules.checkpoint_signal), seconds(rules.checkpoint_lead));
  }
  return text + '\n';
}

const char* name_of(ModelAccess access) {
  switch (access) {
    case ModelAccess::read:
      return "read";
    case ModelAccess::copy_on_write:
      return "copy-on-write";
    case ModelAccess::shared:
      return "shared";
  }
  return "read";
}

std::string model_text(const ModelRequest& model) {
  return fmt::format("  model       {} ({}, {})\n", shell_word(model.path), name_of(model.access),
                     model.loading == ModelLoading::copy ? "copied into memory once" : "mapped");
}

}  // namespace

std::string supervision_text(const Plan& plan) {
  std::string text = restarts_text(plan.restart) + time_text(plan.time);
  if (plan.model) text += model_text(*plan.model);
  if (!plan.log_dir.empty()) text += fmt::format("  log dir     {}\n", shell_word(plan.log_dir));
  return text;
}

}  // namespace forklift
