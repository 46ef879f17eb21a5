// The environment of a node's replicas while it is being planned: what is set, what is removed, and why.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "forklift/plan.hpp"

namespace forklift {

/// Who wins when the launcher's own environment already has the variable.
enum class Claim {
  ours,       ///< The job's identity: an inherited value is a leftover, and is replaced and reported.
  asked,      ///< An option of this launch says so: an inherited value is replaced.
  suggested,  ///< Tuning: an inherited value stays.
};

/// Later calls for the same name replace earlier ones. `origin` is a short phrase for Plan::origins.
class EnvironmentDraft {
 public:
  /// `inherited` must outlive the draft. `replicas`: those of this node.
  EnvironmentDraft(const Environment& inherited, std::size_t replicas);

  void set(Claim claim, const std::string& name, std::string value, std::string origin);

  /// One value for each local rank.
  void set_each(Claim claim, const std::string& name, std::vector<std::string> values, std::string origin);

  /// The replicas do not get this variable, whether or not it is inherited.
  void remove(const std::string& name);

  /// As remove(); an inherited value is reported as a leftover.
  void remove_identity(const std::string& name);

  /// The user's own `--env`: wins over everything said before. Warns where it makes replicas equal that must differ.
  void override_with(const std::vector<EnvironmentVariable>& variables, const std::string& origin);

  /// Writes environment, unset, origins and the warning about leftovers. The plan's replicas must be there already.
  void move_into(Plan& plan) &&;

 private:
  struct Setting {
    Claim claim = Claim::ours;
    std::vector<std::string> values;  ///< One: common to all replicas; else one for each local rank.
    std::string origin;
  };
  [[nodiscard]] std::vector<std::string> leftovers() const;

  const Environment& inherited_;
  std::size_t replicas_;
  std::map<std::string, Setting> settings_;
  std::set<std::string> removed_;
  std::set<std::string> removed_identity_;
  std::map<std::string, std::string> yielded_;  ///< Name → origin, of suggestions that gave way.
  std::vector<std::string> warnings_;
};

}  // namespace forklift
