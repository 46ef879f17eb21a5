// Plan + inherited environment → ChildImage: every string and pointer array laid out before the clone.
#pragma once

#include <sched.h>

#include <string>
#include <string_view>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/plan.hpp"
#include "worker/child_image.hpp"

namespace forklift {

/// What all replicas have alike, as "NAME=value" text sorted by name; made once per attempt.
class InheritedEnvironment {
 public:
  /// `unset` names are left out (Plan::unset), then `set` wins over what is left.
  InheritedEnvironment(Environment environment, const std::vector<std::string>& unset,
                       const std::vector<EnvironmentVariable>& set = {});

  struct Assignment {
    std::string text;
    std::size_t name_length = 0;
    [[nodiscard]] std::string_view name() const { return std::string_view(text).substr(0, name_length); }
  };
  [[nodiscard]] const std::vector<Assignment>& assignments() const { return assignments_; }

 private:
  std::vector<Assignment> assignments_;
};

/// Owns everything that image() points to. Neither copied nor moved: the image points into it.
class FrozenImage {
 public:
  /// `own` is sorted by name and wins over what is inherited. `inherited` must outlive this.
  FrozenImage(const ReplicaPlan& replica, std::string executable, const std::vector<EnvironmentVariable>& own,
              const InheritedEnvironment& inherited);
  FrozenImage(const FrozenImage&) = delete;
  FrozenImage& operator=(const FrozenImage&) = delete;
  ~FrozenImage();

  /// The caller fills in streams, launcher, limits and mask.
  [[nodiscard]] ChildImage& image() { return image_; }

 private:
  void freeze_environment(const std::vector<EnvironmentVariable>& own, const InheritedEnvironment& inherited);
  void freeze_affinity(const std::vector<int>& cpus);

  std::string executable_;
  std::vector<const char*> argv_;
  std::vector<std::string> own_assignments_;
  std::vector<const char*> envp_;
  cpu_set_t* affinity_ = nullptr;
  ChildImage image_;
};

}  // namespace forklift
