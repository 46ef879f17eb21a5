#include "launcher/system/oom_preference.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "worker/descriptor.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

constexpr const char* own_score = "/proc/self/oom_score_adj";
constexpr int score_of_children = 500;

bool write_score(const std::string& score) {
  const Descriptor file(::open(own_score, O_WRONLY | O_CLOEXEC));
  return file.valid() && ::write(file.get(), score.data(), score.size()) == static_cast<ssize_t>(score.size());
}

}  // namespace

ChildrenPreferredAsOomVictims::ChildrenPreferredAsOomVictims() {
  const auto own = read_kernel_file(own_score);
  if (!own || std::atoi(own->c_str()) >= score_of_children) return;  // Then they inherit ours, and are larger.
  if (write_score(std::to_string(score_of_children))) before_ = own;
}

ChildrenPreferredAsOomVictims::~ChildrenPreferredAsOomVictims() {
  if (before_) write_score(*before_);
}

}  // namespace forklift
