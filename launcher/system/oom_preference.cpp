#include "launcher/system/oom_preference.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "worker/descriptor.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

constexpr const char* own_score = "/proc/self/oom_score_adj";
constexpr std::string_view score_of_children = "500";

bool write_score(std::string_view score) {
  const Descriptor file(::open(own_score, O_WRONLY | O_CLOEXEC));
  return file.valid() && ::write(file.get(), score.data(), score.size()) == static_cast<ssize_t>(score.size());
}

}  // namespace

ChildrenPreferredAsOomVictims::ChildrenPreferredAsOomVictims() {
  before_ = read_kernel_file(own_score);
  if (before_ && !write_score(score_of_children)) before_.reset();
}

ChildrenPreferredAsOomVictims::~ChildrenPreferredAsOomVictims() {
  if (before_) write_score(*before_);
}

}  // namespace forklift
