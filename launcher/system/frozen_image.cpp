#include "launcher/system/frozen_image.hpp"

#include <algorithm>
#include <utility>

namespace forklift {

InheritedEnvironment::InheritedEnvironment(Environment environment, const std::vector<std::string>& unset,
                                           const std::vector<EnvironmentVariable>& set) {
  for (const std::string& name : unset) environment.erase(name);
  for (const EnvironmentVariable& variable : set) environment.insert_or_assign(variable.name, variable.value);
  assignments_.reserve(environment.size());
  for (const auto& [name, value] : environment) {  // std::map: sorted by name
    assignments_.push_back({name + "=" + value, name.size()});
  }
}

FrozenImage::FrozenImage(const ReplicaPlan& replica, std::string executable,
                         const std::vector<EnvironmentVariable>& own, const InheritedEnvironment& inherited)
    : executable_(std::move(executable)) {
  argv_.reserve(replica.argv.size() + 1);
  for (const std::string& word : replica.argv) argv_.push_back(word.c_str());
  argv_.push_back(nullptr);
  freeze_environment(own, inherited);
  freeze_affinity(replica.cpus);
  image_.executable = executable_.c_str();
  image_.argv = argv_.data();
  image_.envp = envp_.data();
}

FrozenImage::~FrozenImage() {
  if (affinity_ != nullptr) CPU_FREE(affinity_);
}

// Both lists are sorted by name: one walk merges them, ours winning.
void FrozenImage::freeze_environment(const std::vector<EnvironmentVariable>& own,
                                     const InheritedEnvironment& inherited) {
  own_assignments_.reserve(own.size());  // c_str() of short strings must not move
  envp_.reserve(own.size() + inherited.assignments().size() + 1);
  auto left = inherited.assignments().begin();
  const auto end = inherited.assignments().end();
  for (const EnvironmentVariable& variable : own) {
    for (; left != end && left->name() < variable.name; ++left) envp_.push_back(left->text.c_str());
    if (left != end && left->name() == variable.name) ++left;
    own_assignments_.push_back(variable.name + "=" + variable.value);
    envp_.push_back(own_assignments_.back().c_str());
  }
  for (; left != end; ++left) envp_.push_back(left->text.c_str());
  envp_.push_back(nullptr);
}

void FrozenImage::freeze_affinity(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  const auto highest = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1;
  affinity_ = CPU_ALLOC(highest);
  image_.affinity_bytes = CPU_ALLOC_SIZE(highest);
  CPU_ZERO_S(image_.affinity_bytes, affinity_);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), image_.affinity_bytes, affinity_);
  image_.affinity = affinity_;
}

}  // namespace forklift
